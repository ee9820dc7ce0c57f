// Package pgproxy has proxies for tests: StartMessageProxy changes or counts the messages to Postgres, and a
// TCPProxy loses, delays and cuts any data.
package pgproxy

import (
	"io"
	"net"

	"github.com/jackc/pgx/v5/pgproto3"

	"partnerdeposits/lab/hostiletest"
)

// StartMessageProxy starts a proxy to the Postgres at upstream (host:port), and returns its address. each sees and
// may change every message of clients, on several connections at once. TLS is not supported.
func StartMessageProxy(t hostiletest.TB, upstream string, each func(pgproto3.FrontendMessage)) (address string) {
	return hostiletest.ServeTCP(t, func(client net.Conn) {
		server, err := net.Dial("tcp", upstream) //nolint:noctx // ends with the client
		if err != nil {
			return
		}
		defer func() { _ = server.Close() }()
		go func() { _, _ = io.Copy(client, server); _ = client.Close() }()
		// An error only means that the client or Postgres has closed the connection.
		_ = relay(server, client, each)
	}).Address
}

// relay passes a client's messages on to Postgres, after each has seen and perhaps changed them.
func relay(server io.Writer, client io.Reader, each func(pgproto3.FrontendMessage)) error {
	in, out := pgproto3.NewBackend(client, io.Discard), pgproto3.NewFrontend(nil, server)
	var message pgproto3.FrontendMessage
	message, err := in.ReceiveStartupMessage()
	for ; err == nil; message, err = in.Receive() {
		each(message)
		out.Send(message)
		if err := out.Flush(); err != nil {
			return err
		}
	}
	return err
}
