package main

import (
	"strings"

	"github.com/jackc/pgx/v5/pgproto3"
)

// rewriting replaces a part of the statements that contain in, on their way to Postgres.
type rewriting struct{ in, old, replacement string }

// rewrite changes a message by the rules that fit its statement.
func rewrite(message pgproto3.FrontendMessage, rules []rewriting) {
	parse, ok := message.(*pgproto3.Parse)
	if !ok {
		return
	}
	for _, r := range rules {
		if strings.Contains(parse.Query, r.in) {
			parse.Query = strings.ReplaceAll(parse.Query, r.old, r.replacement)
		}
	}
}
