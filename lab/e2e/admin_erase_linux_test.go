package e2e_test

import (
	"context"
	"testing"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
)

// lockRow locks a row, until unlock or the end of the test.
func lockRow(t testing.TB, pool *pgxpool.Pool, sql string, rowID id.ID) (unlock func()) {
	t.Helper()
	tx, err := pool.Begin(t.Context())
	require.NoError(t, err)
	unlock = func() { _ = tx.Rollback(context.WithoutCancel(t.Context())) }
	t.Cleanup(unlock) // after a failure too, since the pool waits for the connection
	_, err = tx.Exec(t.Context(), sql, rowID)
	require.NoError(t, err)
	return unlock
}

// Ctrl-C ends an erasure between two clients, or two deposits, and the next run does the rest alone.
func TestAdmin_Erase_InterruptedAndRunAgain(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.http(t)
	pool := w.database(t)
	accountID := w.link(t, "villa-62")
	var people []string
	args := []string{"client", "erase", "--yes"}
	for _, email := range []string{"ada@personal.example", "bob@personal.example", "eve@personal.example"} {
		people = append(people, w.person(t, accountID, email))
		args = append(args, "--id", people[len(people)-1])
	}
	oldest := w.bookingOf(t, accountID, people[0])
	w.bookingOf(t, accountID, people[0])
	left := func() (n int) {
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT count(*) FROM clients WHERE erased_at IS NULL`).Scan(&n))
		return n
	}
	blocked, _ := id.Client.Parse(people[1])
	unlock := lockRow(t, pool, `SELECT FROM clients WHERE id = $1 FOR UPDATE`, blocked)
	term := onTerminal(t, w.environ, args...)
	term.await(t, "1 of 3 clients erased (33 %)")
	term.types(t, ctrlC)
	require.Equal(t, 130, term.exitCode(t), term.screen())
	require.Contains(t, term.screen(), "1 of 3 clients are erased, and the command erases the rest when it runs again")
	unlock()
	require.Equal(t, 2, left())
	var done erasure
	w.admin(t, &done, args...)
	require.Equal(t, []bool{false, true, true},
		[]bool{done.Clients[0].Changed, done.Clients[1].Changed, done.Clients[2].Changed})
	require.Zero(t, left())

	blocked, _ = id.Deposit.Parse(oldest) // the newest is read first
	unlock = lockRow(t, pool, `SELECT FROM deposits WHERE id = $1 FOR UPDATE`, blocked)
	term = onTerminal(t, w.environ, "client", "erase-text", "--id", people[0], "--yes")
	term.await(t, "0 of 2 deposits read (0 %)")
	waits := func() (n int) { // after the commit of the first deposit the command counts it, and goes on to the second
		require.NoError(t, pool.QueryRow(t.Context(),
			`SELECT count(*) FROM pg_stat_activity WHERE datname = current_database() AND wait_event_type = 'Lock'`).Scan(&n))
		return n
	}
	require.Eventually(t, func() bool { return words(t, pool) == 1 && waits() == 1 }, soon, often,
		"the second deposit waits")
	term.types(t, ctrlC)
	require.Equal(t, 130, term.exitCode(t), term.screen())
	require.Contains(t, term.screen(),
		"1 of 2 deposits hold no words any more, and the command goes on with the rest when it runs again")
	unlock()
	require.Equal(t, 1, words(t, pool))
	code, stdout, stderr := run(t, w.environ, "admin", "client", "erase-text", "--id", people[0], "--json")
	require.Zero(t, code, stderr)
	require.JSONEq(t, `{"clientId":"`+people[0]+`","deposits":2,"changed":1}`, stdout)
	require.Contains(t, stderr, `{"progress":{"done":0,"total":2,"unit":"deposits read",`)
	require.Zero(t, words(t, pool))
}
