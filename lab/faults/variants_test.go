package main

import (
	"testing"

	"github.com/jackc/pgx/v5/pgproto3"
	"github.com/stretchr/testify/require"
)

func TestVariant_RewritesTheStatementsThatARuleFits(t *testing.T) {
	t.Parallel()
	v := variant{rules: []rewriting{{"FROM feeds", "FOR UPDATE", ""}}}
	fits, other := &pgproto3.Parse{Query: "SELECT 1 FROM feeds FOR UPDATE"}, &pgproto3.Parse{Query: "SELECT 1 FOR UPDATE"}
	value := &pgproto3.Bind{Parameters: [][]byte{[]byte("FROM feeds FOR UPDATE")}}
	for _, m := range []pgproto3.FrontendMessage{fits, other, value} {
		v.rewrite(m)
	}
	require.Equal(t, "SELECT 1 FROM feeds ", fits.Query)
	require.Equal(t, "SELECT 1 FOR UPDATE", other.Query)
	require.Equal(t, "FROM feeds FOR UPDATE", string(value.Parameters[0]))
}
