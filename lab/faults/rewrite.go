package main

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"strings"
)

// rewriting replaces a part of the statements that contain in, on their way to Postgres.
type rewriting struct{ in, old, replacement string }

// rewrite serves a proxy of Postgres that changes statements, until end.
func rewrite(upstream string, rules []rewriting) (address string, end func(), err error) {
	listener, err := net.Listen("tcp", "127.0.0.1:0") //nolint:noctx // closed by end
	if err != nil {
		return "", nil, err
	}
	go func() {
		for {
			client, err := listener.Accept()
			if err != nil {
				return
			}
			go func() {
				defer func() { _ = client.Close() }()
				if server, err := net.Dial("tcp", upstream); err == nil { //nolint:noctx // ends with the client
					go func() { _, _ = io.Copy(client, server); _ = client.Close() }()
					_ = relay(server, client, rules) // either side has ended
					_ = server.Close()
				}
			}()
		}
	}()
	return listener.Addr().String(), func() { _ = listener.Close() }, nil
}

// relay passes the messages of a client on. The first message of a connection has no type (PostgreSQL, "Message Formats").
func relay(server io.Writer, client io.Reader, rules []rewriting) error {
	const parse, length = 'P', 4
	in, out := bufio.NewReader(client), bufio.NewWriter(server)
	for kind := 0; ; kind = 1 {
		header := make([]byte, kind+length)
		if _, err := io.ReadFull(in, header); err != nil {
			return err
		}
		body := make([]byte, binary.BigEndian.Uint32(header[kind:])-length)
		if _, err := io.ReadFull(in, body); err != nil {
			return err
		}
		if kind == 1 && header[0] == parse {
			text := string(body)
			for _, r := range rules {
				if strings.Contains(text, r.in) {
					text = strings.ReplaceAll(text, r.old, r.replacement)
				}
			}
			body = []byte(text)
			binary.BigEndian.PutUint32(header[kind:], uint32(len(body)+length)) //nolint:gosec // a statement
		}
		_, _ = out.Write(header) // Flush tells
		_, _ = out.Write(body)
		if in.Buffered() == 0 {
			if err := out.Flush(); err != nil {
				return err
			}
		}
	}
}
