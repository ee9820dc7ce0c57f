package pgproxy

import (
	"bytes"
	"io"
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/require"
)

func TestRelay_PassesOnWhatEachLeaves(t *testing.T) {
	t.Parallel()
	parameters := map[string]string{"user": "FROM feeds"}
	startup := &pgproto3.StartupMessage{ProtocolVersion: pgproto3.ProtocolVersion30, Parameters: parameters}
	bind := &pgproto3.Bind{Parameters: [][]byte{[]byte("FROM feeds")}}
	of := func(query string) (wire []byte) {
		parse := &pgproto3.Parse{Name: "a", Query: query, ParameterOIDs: []uint32{20}}
		for _, m := range []pgproto3.FrontendMessage{startup, parse, bind, &pgproto3.Sync{}} {
			var err error
			wire, err = m.Encode(wire)
			require.NoError(t, err)
		}
		return wire
	}
	var got bytes.Buffer
	err := relay(&got, bytes.NewReader(of("SELECT 1 FROM feeds")), func(m pgproto3.FrontendMessage) {
		if parse, ok := m.(*pgproto3.Parse); ok {
			parse.Query = "SELECT 2"
		}
	})
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.Equal(t, of("SELECT 2"), got.Bytes())
}
