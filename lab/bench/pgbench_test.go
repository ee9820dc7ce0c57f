package main

import (
	"crypto/sha256"
	"encoding/hex"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/backing"
)

const pgbenchOutput = `progress: 1.0 s, 310.0 tps, lat 24.1 ms stddev 10.1, 0 failed
progress: 2.0 s, 1300.0 tps, lat 24.1 ms stddev 10.1, 0 failed
progress: 3.0 s, 1304.5 tps, lat 24.1 ms stddev 10.1, 0 failed
pgbench (15.18 (Debian 15.18-0+deb12u1))
number of transactions actually processed: 10393
number of failed transactions: 0 (0.000%)
tps = 1303.018846 (without initial connection time)
`

func TestParsePgbench_FindsTransactionsAndRate(t *testing.T) {
	t.Parallel()
	require.Equal(t, pgbenchResult{n: 10393, rate: 1302.25}, parsePgbench(pgbenchOutput, 2), "without the first second")
}

func TestParsePgbench_FailuresOrNothing_IsAnError(t *testing.T) {
	t.Parallel()
	const second = "progress: 1.0 s, 4.5 tps\n"
	for _, bad := range []string{"", second, "number of transactions actually processed: 7\n",
		second + "number of transactions actually processed: 7\nnumber of failed transactions: 3 (30.000%)\n"} {
		require.Error(t, attempt(func() { parsePgbench(bad, 1) }), bad)
	}
}

// A changed yardstick makes earlier figures incomparable.
func TestPgbench_ScriptsAreFrozen(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]string{pgbenchSchema: "250eb52f3b31a59e", pgbenchRows: "4007609486683d38",
		pgbenchPost: "4d03501ec2da8126", pgbenchGet: "ca2ec4b746fe3443"} {
		sum := sha256.Sum256([]byte(text))
		require.Equal(t, want, hex.EncodeToString(sum[:8]), text)
	}
}

func TestPgbench_Post_StoresADepositItsTimerAndItsKey(t *testing.T) {
	t.Parallel()
	server, err := backing.StartPostgres(t.Context(), backing.Options{Private: true, FastUnsafe: true, Logf: t.Logf})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	y := openYardstick(t.Context(), server.URL(), server.Pid())

	const length = 4 * time.Second // on a busy machine, the connections alone take more than a second
	r, read := y.run(t.Context(), pgbenchPost, 2, length), y.run(t.Context(), pgbenchGet, 2, length)

	require.Positive(t, r.rate)
	require.Positive(t, r.cpu)
	require.Positive(t, read.rate)
	conn, err := pgx.Connect(t.Context(), server.URL())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	var rows []int
	require.NoError(t, conn.QueryRow(t.Context(), `SELECT ARRAY[
		(SELECT count(*) FROM deposits WHERE reference LIKE 'D-%'), (SELECT count(*) FROM deposit_timers),
		(SELECT count(*) FROM idempotency_keys), (SELECT count(DISTINCT partner_id) FROM idempotency_keys)]`).Scan(&rows))
	require.Equal(t, []int{r.n, r.n, r.n, 2}, rows)
}
