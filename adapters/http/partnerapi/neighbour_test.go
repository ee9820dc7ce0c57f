package partnerapi_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
)

// neighbour is another partner with an object of each kind. Its texts occur nowhere else.
type neighbour struct {
	*caller
	ids     map[string]string // by prefix
	revoked string            // an API key that was deleted
}

func newNeighbour(t testing.TB, w *world) *neighbour {
	t.Helper()
	n := &neighbour{caller: w.caller(t, "neighbour"), ids: map[string]string{}}
	account := n.link("neighbours-hotel")
	client := text(t, n.post("/clients", object{"accountId": account, "email": "neighbours.tenant@secret.example",
		"firstName": "Nadja", "lastName": "Nachbarin"}).ok(201), "id")
	hook := text(t, n.post("/webhooks", object{"url": "https://93.184.216.34/neighbours-hook"}).ok(201), "id")
	n.simulated(n.created(account), "activate") // an event
	n.ids = map[string]string{
		"acct": account, "cli": client, "pwh": hook, "key": n.keyID, "evt": n.eventID(),
		"dep": n.created(account, "clientId", client, "rentalContract", "NEIGHBOURS-CONTRACT"),
		"dlv": text(t, n.post("/webhooks/"+hook+"/test", nil).ok(200), "id"),
	}
	made, plain, err := n.Partners.CreateKey(t.Context(), n.partner.Slug, "old")
	require.NoError(t, err)
	_, err = n.Partners.RevokeKey(t.Context(), id.APIKey.Of(made.ID))
	require.NoError(t, err)
	n.revoked = plain.Reveal()
	return n
}

// unseen fails when an answer to another partner holds a datum of the neighbour.
func (n *neighbour) unseen(t testing.TB, r reply) {
	t.Helper()
	seen := string(r.body) + fmt.Sprint(r.header)
	for _, theirs := range n.ids {
		_, digits, _ := strings.Cut(theirs, "_")
		require.NotContains(t, seen, digits)
	}
	for _, datum := range []string{"neighbour", "NEIGHBOURS", "Nadja", "Nachbarin", "secret.example", n.partner.Name,
		n.key, n.partner.ID.Encode()} {
		require.NotContains(t, seen, datum)
	}
}

// unrecorded are columns that a call may change although it changes nothing for the partner: the last use of a key.
const unrecorded = `'last_used_at'`

// snapshot is a checksum of the rows of every table.
func (w *world) snapshot(t testing.TB) map[string]string {
	t.Helper()
	rows, err := w.Pool.Query(t.Context(), `SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
		WHERE n.nspname = 'public' AND c.relkind IN ('r', 'p') AND NOT c.relispartition ORDER BY 1`)
	require.NoError(t, err)
	defer rows.Close()
	out, query := map[string]string{}, ""
	for rows.Next() {
		var table string
		require.NoError(t, rows.Scan(&table))
		if query != "" {
			query += " UNION ALL "
		}
		query += `SELECT '` + table + `', coalesce(md5(string_agg(md5((to_jsonb(x) - ` + unrecorded +
			`)::text), '' ORDER BY md5((to_jsonb(x) - ` + unrecorded + `)::text))), '') FROM ` + table + ` x`
	}
	require.NoError(t, rows.Err())
	sums, err := w.Pool.Query(t.Context(), query)
	require.NoError(t, err)
	defer sums.Close()
	for sums.Next() {
		var table, sum string
		require.NoError(t, sums.Scan(&table, &sum))
		out[table] = sum
	}
	require.NoError(t, sums.Err())
	return out
}
