package partnerapi_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/partnerapi"
	"partnerdeposits/core/money"
)

func TestParseTimestamp(t *testing.T) {
	good := map[string]time.Time{
		"2026-08-01T15:00:00Z":             time.Date(2026, 8, 1, 15, 0, 0, 0, time.UTC),
		"2026-08-01T15:00:00+00:00":        time.Date(2026, 8, 1, 15, 0, 0, 0, time.UTC),
		"2026-08-01T15:00:00.5Z":           time.Date(2026, 8, 1, 15, 0, 0, 5e8, time.UTC),
		"2026-08-01T15:00:00.123456789Z":   time.Date(2026, 8, 1, 15, 0, 0, 123456789, time.UTC),
		"2024-02-29T23:59:59.000000+00:00": time.Date(2024, 2, 29, 23, 59, 59, 0, time.UTC),
		"0001-01-01T00:00:00Z":             {},
		"9999-12-31T23:59:59.999Z":         time.Date(9999, 12, 31, 23, 59, 59, 999e6, time.UTC),
	}
	for s, want := range good {
		got, err := partnerapi.ParseTimestamp(s)
		require.NoError(t, err, s)
		require.True(t, want.Equal(got.Time), s)
		require.Equal(t, time.UTC, got.Location(), s)
	}
	for _, s := range []string{
		"", "Z", "2026-08-01", "2026-08-01T15:00:00", "2026-08-01T15:00Z", "2026-08-01T5:00:00Z", "2026-8-01T15:00:00Z",
		"2026-08-01 15:00:00Z", "2026-08-01t15:00:00Z", "2026-08-01T15:00:00z", "2026-08-01T15:00:00.Z",
		"2026-08-01T15:00:00,5Z",
		"2026-08-01T15:00:00.1234567890Z", "2026-08-01T15:00:00+01:00", "2026-08-01T15:00:00-00:00",
		"2026-08-01T15:00:00+0000",
		"2026-02-29T15:00:00Z", "2026-13-01T15:00:00Z", "2026-08-01T24:00:00Z", "2026-08-01T23:59:60Z",
		"2026-08-01T15:00:00Z ",
		" 2026-08-01T15:00:00Z", "2026-08-01T15:00:000Z", "02026-08-01T15:00:00Z", "1785596400", "٢٠٢٦-08-01T15:00:00Z",
	} {
		_, err := partnerapi.ParseTimestamp(s)
		require.Error(t, err, s)
	}
}

func TestTimestamp_GoesOutInUTCWithMilliseconds(t *testing.T) {
	paris := time.FixedZone("CEST", 2*60*60)
	out, err := json.Marshal([]any{
		partnerapi.TimestampOf(time.Date(2026, 8, 1, 17, 0, 0, 123999999, paris)),
		partnerapi.TimestampOrNil(time.Time{}),
	})
	require.NoError(t, err)
	require.Equal(t, `["2026-08-01T15:00:00.123Z",null]`, string(out))
}

func TestEuros_KeepsItsLiteral(t *testing.T) {
	var e partnerapi.Euros
	require.NoError(t, json.Unmarshal([]byte(`2500.010`), &e))
	cents, err := e.Cents()
	require.NoError(t, err)
	require.Equal(t, money.Cents(250001), cents)
	out, err := json.Marshal(e)
	require.NoError(t, err)
	require.Equal(t, `2500.010`, string(out))

	for _, bad := range []string{`"70"`, `null`, `true`, `{}`, `[1]`} {
		require.Error(t, json.Unmarshal([]byte(bad), &e), bad)
	}
	_, err = json.Marshal(partnerapi.Euros{})
	require.Error(t, err, "no amount is not written as one")

	out, err = json.Marshal(
		[]partnerapi.Euros{partnerapi.EurosOf(7000), partnerapi.EurosOf(7050), partnerapi.EurosOf(250001)})
	require.NoError(t, err)
	require.Equal(t, `[70,70.5,2500.01]`, string(out))
}
