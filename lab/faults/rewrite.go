package main

import (
	"bufio"
	"encoding/binary"
	"io"
	"net"
	"strings"

	"partnerdeposits/lab/hostiletest"
)

// rewriting replaces a part of the statements that contain in, on their way to Postgres.
type rewriting struct{ in, old, replacement string }

// rewrite serves a proxy of Postgres that changes statements, and gives its address.
func rewrite(t hostiletest.TB, upstream string, rules []rewriting) string {
	return hostiletest.Serve(t, func(client net.Conn) {
		server, err := net.Dial("tcp", upstream) //nolint:noctx // ends with the client
		if err != nil {
			return
		}
		defer func() { _ = server.Close() }()
		go func() { _, _ = io.Copy(client, server); _ = client.Close() }()
		_ = relay(server, client, rules) // either side has ended
	}).Address
}

// relay passes the messages of a client on. The first message of a connection has no type (PostgreSQL, "Message
// Formats").
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
