package e2e_test

import (
	"net/http"
	"slices"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"
)

// database is a pool of the test's own on the database of the world.
func (w *deployment) database(t testing.TB) *pgxpool.Pool {
	t.Helper()
	at := slices.IndexFunc(w.environ, func(v string) bool { return strings.HasPrefix(v, "DATABASE_URL=") })
	pool, err := pgxpool.New(t.Context(), strings.TrimPrefix(w.environ[at], "DATABASE_URL="))
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	return pool
}

// person makes a client of the account.
func (w *deployment) person(t testing.TB, accountID, email string) (clientID string) {
	t.Helper()
	var made struct{ Data struct{ ID string } }
	w.api(t).post("/clients",
		map[string]any{"accountId": accountID, "email": email, "firstName": "Ada", "lastName": "Lovelace"}, &made)
	return made.Data.ID
}

// bookingOf makes a deposit of the client, whose metadata and history name the person, and cancels the deposit.
func (w *deployment) bookingOf(t testing.TB, accountID, clientID string) (depositID string) {
	t.Helper()
	var made struct{ Data struct{ ID string } }
	w.api(t).post("/deposits", map[string]any{
		"accountId": accountID, "clientId": clientID, "amount": 700, "contractStartAt": "2030-06-01T14:00:00Z",
		"contractEndAt": "2030-06-08T10:00:00Z",
		"metadata":      map[string]string{"note": "Ada wants a cot"},
	}, &made)
	w.api(t).post("/deposits/"+made.Data.ID+"/cancel", map[string]any{"reason": "duplicate", "comment": "Ada called"}, nil)
	return made.Data.ID
}

// words counts the deposits whose metadata or history names the person.
func words(t testing.TB, pool *pgxpool.Pool) (n int) {
	t.Helper()
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM deposits d WHERE d.metadata::text LIKE '%Ada%'
		OR EXISTS (SELECT FROM deposit_transitions t WHERE t.deposit_id = d.id AND t.detail::text LIKE '%Ada%')`).Scan(&n))
	return n
}

type erasure struct {
	Clients []struct {
		ClientID string
		Changed  bool
	}
}

type shownClients struct {
	Clients []struct {
		Email    *string
		ErasedAt *string
		Deposits []struct{ DepositID string }
	}
}

type auditEntries struct {
	Entries []struct{ Actor, Action, Subject string }
}

func TestAdmin_ErasesPeople_AndTheirWords(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.http(t)
	pool := w.database(t)
	accountID := w.link(t, "villa-61")
	ada, other := w.person(t, accountID, "ada@personal.example"), w.person(t, accountID, "bob@personal.example")
	d, theirs := w.bookingOf(t, accountID, ada), w.bookingOf(t, accountID, other)
	require.Equal(t, 2, words(t, pool))
	unknown := "cli_" + strings.Repeat("0", 25) + "1"
	erased := func(clientID string) bool {
		t.Helper()
		var shown shownClients
		w.admin(t, &shown, "client", "show", clientID)
		require.Equal(t, shown.Clients[0].ErasedAt == nil, shown.Clients[0].Email != nil)
		return shown.Clients[0].ErasedAt != nil
	}

	for _, wrong := range []string{unknown, "nonsense", ada[:len(ada)-1], d} {
		for _, args := range [][]string{{"client", "erase", "--id", ada, "--id", wrong},
			{"client", "erase-text", "--id", wrong}} {
			exit, stdout, stderr := run(t, w.environ, "admin", append(args, "--json")...)
			require.Equal(t, 1, exit, stderr)
			require.Empty(t, stdout)
			require.Equal(t, "client_not_found: There is no client "+wrong+". Nothing was erased.", refusal(t, stderr))
		}
		exit, _, stderr := run(t, w.environ, "admin", "deposit", "erase-text", "--id",
			strings.Replace(wrong, "dep_", "acct_", 1), "--json")
		require.Equal(t, 1, exit, stderr)
		require.Contains(t, refusal(t, stderr), "deposit_not_found: ")
	}
	require.False(t, erased(ada))

	var done erasure
	w.admin(t, &done, "client", "erase", "--id", ada)
	require.Equal(t, ada, done.Clients[0].ClientID)
	require.True(t, done.Clients[0].Changed)
	require.True(t, erased(ada))
	require.False(t, erased(other))
	status, body, err := w.api(t).do(http.MethodGet, "/clients/"+ada, nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusNotFound, status, string(body))
	w.admin(t, &done, "client", "erase", "--id", ada, "--id", other)
	require.Len(t, done.Clients, 2)
	require.Equal(t, []bool{false, true}, []bool{done.Clients[0].Changed, done.Clients[1].Changed})
	var log auditEntries
	w.admin(t, &log, "audit", "show", ada)
	require.Len(t, log.Entries, 1)
	require.Equal(t, []string{"admin", "client.erase"}, []string{log.Entries[0].Actor, log.Entries[0].Action})
	require.Equal(t, 2, words(t, pool), "the words of people go by a command of their own")

	var text struct {
		ClientID, DepositID string
		Deposits            int
		Changed             any
	}
	w.admin(t, &text, "client", "erase-text", "--id", ada)
	require.Equal(t, []any{ada, 1, 1.0}, []any{text.ClientID, text.Deposits, text.Changed})
	require.Equal(t, 1, words(t, pool))
	w.admin(t, &text, "client", "erase-text", "--id", ada)
	require.Equal(t, []any{1, 0.0}, []any{text.Deposits, text.Changed}, "a second run finds no words")
	for _, want := range []bool{true, false} {
		w.admin(t, &text, "deposit", "erase-text", "--id", theirs)
		require.Equal(t, []any{theirs, want}, []any{text.DepositID, text.Changed})
	}
	require.Zero(t, words(t, pool))
	w.admin(t, &log, "audit", "show", d)
	require.Len(t, log.Entries, 1)
	require.Equal(t, []string{"admin", "deposit.erase_text"}, []string{log.Entries[0].Actor, log.Entries[0].Action})
}
