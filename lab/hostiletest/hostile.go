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

// Hostile starts twenty webhook receivers that misbehave on purpose, such as endless or broken answers, and
// returns their URLs.
func Hostile(t TB, ca *Authority) []string {
	const begin = "HTTP/1.1 200 OK\r\n"
	gigabyte := Answering(begin+"Content-Length: 1073741824\r\n\r\n", Forever("x"))
	var bomb bytes.Buffer
	w := gzip.NewWriter(&bomb)
	_, err := w.Write(make([]byte, 16<<20))
	check(t, errors.Join(err, w.Close()))
	plain := []func(net.Conn){
		Silent,
		Reset,
		func(net.Conn) {},
		Forever("not asked for\r\n"),
		gigabyte,
		Answering(begin+"Content-Length: 100000\r\n\r\n", Trickle("x")),
		Answering(begin+"X: ", Trickle("x")),
		Answering(begin, Forever("X-Header: value\r\n")),
		Answering("", Forever("HTTP/1.1 103 Early Hints\r\nLink: </x>\r\n\r\n")),
		Answering(begin+"Transfer-Encoding: chunked\r\n\r\n", Forever("1\r\nx\r\n")),
		Answering(begin+"Content-Encoding: gzip\r\nContent-Length: 1000000\r\n\r\n"+bomb.String(), Silent),
		Answering("HTTP/1.1 101 Switching Protocols\r\nConnection: Upgrade\r\nUpgrade: x\r\n\r\n", Forever("x")),
		Answering("HTTP/1.1 500 \x00\xff\r\nContent-Length: 3\r\n\r\n\x00\xff\xfe", nil),
		func(c net.Conn) { // This receiver redirects every request to itself.
			_, _, _ = Request(bufio.NewReader(c))
			_, _ = io.WriteString(c,
				"HTTP/1.1 307 Again\r\nLocation: http://"+c.LocalAddr().String()+"/\r\nContent-Length: 0\r\n\r\n")
		},
	}
	var urls []string
	for _, handle := range plain {
		urls = append(urls, "http://"+Serve(t, handle).Address)
	}
	urls = append(urls,
		"https://"+Serve(t, Silent).Address,
		"https://"+ServeTLS(t, NewAuthority(t).Issue(t, nil), Silent).Address,
		"https://"+ServeTLS(t, ca.Issue(t, nil), gigabyte).Address,
	)
	_, refusing := H2(t, ca, nil, func(f *http2.Framer, s uint32) { _ = f.WriteRSTStream(s, http2.ErrCodeRefusedStream) })
	_, leaving := H2(t, ca, nil, func(f *http2.Framer, _ uint32) { _ = f.WriteGoAway(0, http2.ErrCodeNo, nil) })
	flooding := ca.ServeHTTP(t, func(w http.ResponseWriter, _ *http.Request) {
		for block := make([]byte, 64<<10); ; {
			if _, err := w.Write(block); err != nil {
				return
			}
		}
	})
	return append(urls, refusing, leaving, flooding)
}

// H2 starts a bare HTTP/2 server, for answers that no HTTP library would send. It reads the connection preface and
// passes each request to the function answer.
func H2(t TB, ca *Authority, settings []http2.Setting,
	answer func(f *http2.Framer, stream uint32)) (r *Receiver, url string) {
	config := ca.Issue(t, nil)
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
