package postgres_test

import (
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"partnerdeposits/core/actor"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/pgtest"
)

var (
	someID  = id.ID{0x01, 0x93, 0x4b, 0x5f, 0x6a, 0x7c, 0x7d, 0x8e, 0x9f, 0xa0, 0xb1, 0xc2, 0xd3, 0xe4, 0xf5, 0x06}
	noonUTC = time.Date(2026, 8, 1, 12, 0, 0, 123_456_000, time.UTC)
)

func TestID_RoundTrips_AndZeroIsNull(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	for _, format := range []int16{pgx.BinaryFormatCode, pgx.TextFormatCode} {
		for _, want := range []id.ID{someID, {}} {
			got := id.ID{9}
			var null bool
			require.NoError(t, pool.QueryRow(t.Context(), `SELECT $1::uuid, $1::uuid IS NULL`,
				pgx.QueryResultFormats{format, format}, want).Scan(&got, &null))
			require.Equal(t, want, got)
			require.Equal(t, want.IsZero(), null)
		}
	}
	var text string
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT $1::uuid::text`, someID).Scan(&text))
	require.Equal(t, someID.String(), text)
	// QueryExecModeExec does not ask the server for types
	for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeExec} {
		var one id.ID
		var all []id.ID
		var found bool
		require.NoError(t, pool.QueryRow(t.Context(), `SELECT $2::uuid, $1::uuid[], $2::uuid = ANY ($1::uuid[])`, mode,
			[]id.ID{someID, {}}, someID).Scan(&one, &all, &found))
		require.Equal(t, []any{someID, []id.ID{someID, {}}, true}, []any{one, all, found})
	}
}

func TestZeroValues_InAColumnThatIsNotNull_AreRefused(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	_, err := pool.Exec(t.Context(), `CREATE TABLE strict (id uuid NOT NULL, at timestamptz NOT NULL)`)
	require.NoError(t, err)
	_, err = pool.Exec(t.Context(), `INSERT INTO strict VALUES ($1, $2)`, id.ID{}, noonUTC)
	require.ErrorContains(t, err, "23502")
	_, err = pool.Exec(t.Context(), `INSERT INTO strict VALUES ($1, $2)`, someID, time.Time{})
	require.ErrorContains(t, err, "23502")
}

func TestTime_RoundTripsInUTC_ZeroIsNull(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	paris := time.FixedZone("CEST", 2*60*60)
	for _, format := range []int16{pgx.BinaryFormatCode, pgx.TextFormatCode} {
		for _, c := range []struct{ in, want time.Time }{{noonUTC, noonUTC}, {noonUTC.In(paris), noonUTC},
			{time.Time{}, time.Time{}}} {
			got := time.Now()
			require.NoError(t,
				pool.QueryRow(t.Context(), `SELECT $1::timestamptz`, pgx.QueryResultFormats{format}, c.in).Scan(&got))
			require.Equal(t, c.want, got)
		}
	}
	var all []time.Time
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT $1::timestamptz[]`, []time.Time{noonUTC, {}}).Scan(&all))
	require.Equal(t, []time.Time{noonUTC, {}}, all)

	var got *time.Time // still tells NULL
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT NULL::timestamptz`).Scan(&got))
	require.Nil(t, got)
	require.NoError(t, pool.QueryRow(t.Context(), `SELECT $1::timestamptz`, &noonUTC).Scan(&got))
	require.Equal(t, noonUTC, *got)
	require.Error(t, pool.QueryRow(t.Context(), `SELECT 'infinity'::timestamptz`).Scan(new(time.Time)))
}

func TestActor_IsReadFromItsText(t *testing.T) {
	t.Parallel()
	pool := pgtest.New(t)
	for text, want := range map[string]actor.Actor{
		"operator:" + id.Operator.Of(someID): actor.Operator(someID),
		"scheduler":                          actor.Clock,
		"dispatcher":                         actor.Clock,
		"":                                   {},
	} {
		for _, mode := range []pgx.QueryExecMode{pgx.QueryExecModeCacheStatement, pgx.QueryExecModeSimpleProtocol} {
			got := actor.Staff
			require.NoError(t, pool.QueryRow(t.Context(), `SELECT $1::text`, mode, text).Scan(&got))
			require.Equal(t, want, got)
		}
	}
}
