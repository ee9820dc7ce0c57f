package hostiletest

import (
	"bufio"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"net"
	"net/http"

	"golang.org/x/net/http2"
)

// StartHostileReceivers starts twenty webhook receivers that misbehave on purpose, and returns their URLs.
func StartHostileReceivers(t TB, ca *CertificateAuthority) []string {
	const begin = "HTTP/1.1 200 OK\r\n"
	gigabyte := FixedResponseHandler(begin+"Content-Length: 1073741824\r\n\r\n", EndlessHandler("x"))
	var bomb bytes.Buffer
	w := gzip.NewWriter(&bomb)
	_, err := w.Write(make([]byte, 16<<20))
	check(t, errors.Join(err, w.Close()))
	plain := []func(net.Conn){
		SilentHandler,
		ResetConnection,
		func(net.Conn) {},
		EndlessHandler("not asked for\r\n"),
		gigabyte,
		FixedResponseHandler(begin+"Content-Length: 100000\r\n\r\n", TrickleHandler("x")),
		FixedResponseHandler(begin+"X: ", TrickleHandler("x")),
		FixedResponseHandler(begin, EndlessHandler("X-Header: value\r\n")),
		FixedResponseHandler("", EndlessHandler("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")),
		FixedResponseHandler(begin+"Transfer-Encoding: chunked\r\n\r\n", EndlessHandler("1\r\nx\r\n")),
		FixedResponseHandler(begin+"Content-Encoding: gzip\r\nContent-Length: 1000000\r\n\r\n"+bomb.String(), SilentHandler),
		FixedResponseHandler("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n", EndlessHandler("x")),
		FixedResponseHandler("HTTP/1.1 500 \x00\xff\r\nContent-Length: 3\r\n\r\n\x00\xff\xfe", nil),
		func(c net.Conn) { // This receiver redirects every request to itself.
			_, _, _ = ReadRequest(bufio.NewReader(c))
			_, _ = io.WriteString(c,
				"HTTP/1.1 307 Again\r\nLocation: http://"+c.LocalAddr().String()+"/\r\nContent-Length: 0\r\n\r\n")
		},
	}
	var urls []string
	for _, handle := range plain {
		urls = append(urls, "http://"+ServeTCP(t, handle).Address)
	}
	urls = append(urls,
		"https://"+ServeTCP(t, SilentHandler).Address,
		"https://"+ServeTLS(t, NewCertificateAuthority(t).IssueServerConfig(t, nil), SilentHandler).Address,
		"https://"+ServeTLS(t, ca.IssueServerConfig(t, nil), gigabyte).Address,
	)
	_, refusing := ServeHTTP2(t, ca, nil, func(f *http2.Framer, s uint32) {
		_ = f.WriteRSTStream(s, http2.ErrCodeRefusedStream)
	})
	_, leaving := ServeHTTP2(t, ca, nil, func(f *http2.Framer, _ uint32) { _ = f.WriteGoAway(0, http2.ErrCodeNo, nil) })
	flooding := ca.ServeHTTPS(t, func(w http.ResponseWriter, _ *http.Request) {
		for block := make([]byte, 64<<10); ; {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	})
	return append(urls, refusing, leaving, flooding)
}

// ServeHTTP2 starts a bare HTTP/2 server, for answers that no HTTP library would send. answer gets each request.
func ServeHTTP2(t TB, ca *CertificateAuthority, settings []http2.Setting,
	answer func(f *http2.Framer, stream uint32)) (r *Receiver, url string) {
	config := ca.IssueServerConfig(t, nil)
	config.NextProtos = []string{"h2"}
	r = ServeTLS(t, config, func(c net.Conn) {
		if _, err := io.ReadFull(c, make([]byte, len(http2.ClientPreface))); err != nil {
			return
		}
		f := http2.NewFramer(c, c)
		if f.WriteSettings(settings...) != nil {
			return
		}
		for {
			frame, err := f.ReadFrame()
			if err != nil {
				return
			}
			switch frame := frame.(type) {
			case *http2.SettingsFrame:
				if !frame.IsAck() {
					_ = f.WriteSettingsAck()
				}
			case *http2.HeadersFrame:
				answer(f, frame.StreamID)
			}
		}
	})
	return r, "https://" + r.Address
}
