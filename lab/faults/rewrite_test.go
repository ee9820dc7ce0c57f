package main

import (
	"bytes"
	"io"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/require"
)

func TestRewrite_ChangesTheStatementsThatARuleFits(t *testing.T) {
	t.Parallel()
	rules := []rewriting{{"FROM feeds", "FOR UPDATE", ""}}
	startup := &pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30, Parameters: map[string]string{"user": "FROM feeds FOR UPDATE"}}
	of := func(messages ...pgproto3.FrontendMessage) (wire []byte) {
		for _, m := range messages {
			var err error
			wire, err = m.Encode(wire)
			require.NoError(t, err)
		}
		return wire
	}
	sent := of(startup, &pgproto3.Parse{Name: "a", Query: "SELECT 1 FROM feeds FOR UPDATE", ParameterOIDs: []uint32{20}},
		&pgproto3.Parse{Query: "SELECT 1 FROM outbox FOR UPDATE"}, &pgproto3.Bind{Parameters: [][]byte{[]byte("FROM feeds FOR UPDATE")}}, &pgproto3.Sync{})
	var got bytes.Buffer
	require.ErrorIs(t, relay(&got, bytes.NewReader(sent), rules), io.ErrUnexpectedEOF)
	want := of(startup, &pgproto3.Parse{Name: "a", Query: "SELECT 1 FROM feeds ", ParameterOIDs: []uint32{20}},
		&pgproto3.Parse{Query: "SELECT 1 FROM outbox FOR UPDATE"}, &pgproto3.Bind{Parameters: [][]byte{[]byte("FROM feeds FOR UPDATE")}}, &pgproto3.Sync{})
	require.Equal(t, want, got.Bytes())
}
