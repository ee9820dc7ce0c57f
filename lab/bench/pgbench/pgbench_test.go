package pgbench_test

import (
	"crypto/sha256"
	"encoding/hex"
	"os"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/backing"
	"partnerdeposits/lab/bench/pgbench"
)

const output = `progress: 1.0 s, 310.0 tps, lat 24.1 ms stddev 10.1, 0 failed
progress: 2.0 s, 1300.0 tps, lat 24.1 ms stddev 10.1, 0 failed
progress: 3.0 s, 1304.5 tps, lat 24.1 ms stddev 10.1, 0 failed
pgbench (15.18 (Debian 15.18-0+deb12u1))
transaction type: post.sql
scaling factor: 1
query mode: prepared
number of clients: 32
number of threads: 2
maximum number of tries: 1
duration: 8 s
number of transactions actually processed: 10393
number of failed transactions: 0 (0.000%)
latency average = 24.558 ms
initial connection time = 189.619 ms
tps = 1303.018846 (without initial connection time)
`

func TestParse_FindsTransactionsAndRate(t *testing.T) {
	t.Parallel()
	r, err := pgbench.Parse(output, 2)
	require.NoError(t, err)
	require.Equal(t, pgbench.Result{N: 10393, Rate: 1302.25}, r, "without the first second")
}

func TestParse_FailuresOrNothing_IsAnError(t *testing.T) {
	t.Parallel()
	const second = "progress: 1.0 s, 4.5 tps\n"
	for _, bad := range []string{"", second, "number of transactions actually processed: 7\n",
		second + "number of transactions actually processed: 7\nnumber of failed transactions: 3 (30.000%)\n"} {
		_, err := pgbench.Parse(bad, 1)
		require.Error(t, err, bad)
	}
}

// A changed yardstick makes earlier figures incomparable.
func TestScripts_AreFrozen(t *testing.T) {
	t.Parallel()
	for file, want := range map[string]string{
		"schema.sql": "250eb52f3b31a59e", "rows.sql": "4007609486683d38", "post.sql": "4d03501ec2da8126",
		"get.sql": "ca2ec4b746fe3443",
	} {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		sum := sha256.Sum256(text)
		require.Equal(t, want, hex.EncodeToString(sum[:8]), file)
	}
}

func TestRun_Post_StoresADepositItsTimerAndItsKey(t *testing.T) {
	t.Parallel()
	server, err := backing.StartPostgres(t.Context(), backing.Options{Private: true, FastUnsafe: true, Logf: t.Logf})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, server.Close()) })
	d, err := pgbench.Open(t.Context(), server.URL(), server.Pid())
	require.NoError(t, err)

	const length = 4 * time.Second // on a busy machine, the connections alone take more than a second
	r, err := d.Run(t.Context(), pgbench.Post, 2, length)
	require.NoError(t, err)
	read, err := d.Run(t.Context(), pgbench.Get, 2, length)
	require.NoError(t, err)

	require.Positive(t, r.Rate)
	require.Positive(t, r.CPU)
	require.Positive(t, read.Rate)
	conn, err := pgx.Connect(t.Context(), server.URL())
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	var deposits, timers, keys, partners int
	require.NoError(t, conn.QueryRow(t.Context(),
		`SELECT (SELECT count(*) FROM deposits WHERE reference LIKE 'D-%'), (SELECT count(*) FROM deposit_timers),
		(SELECT count(*) FROM idempotency_keys), (SELECT count(DISTINCT partner_id) FROM idempotency_keys)`).Scan(&deposits,
		&timers, &keys, &partners))
	require.Equal(t, []int{r.N, r.N, r.N, 2}, []int{deposits, timers, keys, partners})
}
