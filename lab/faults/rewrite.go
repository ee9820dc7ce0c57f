package main

import (
	"io"
	"net"
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"

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

// relay passes the messages of a client on.
func relay(server io.Writer, client io.Reader, rules []rewriting) error {
	in, out := pgproto3.NewBackend(client, io.Discard), pgproto3.NewFrontend(nil, server)
	var message pgproto3.FrontendMessage
	message, err := in.ReceiveStartupMessage()
	for ; err == nil; message, err = in.Receive() {
		if parse, ok := message.(*pgproto3.Parse); ok {
			for _, r := range rules {
				if strings.Contains(parse.Query, r.in) {
					parse.Query = strings.ReplaceAll(parse.Query, r.old, r.replacement)
				}
			}
		}
		out.Send(message)
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return err
}
