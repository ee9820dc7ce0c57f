package idempotent

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
	ports "partnerdeposits/ports/platform"
)

var noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

func TestHolds_ACachedResponseForADay(t *testing.T) {
	t.Parallel()
	at := func(age time.Duration) *ports.StoredResponse { return &ports.StoredResponse{CreatedAt: noon.Add(-age)} }
	require.False(t, holds(nil, noon))
	require.True(t, holds(at(0), noon))
	require.True(t, holds(at(24*time.Hour-1), noon))
	require.False(t, holds(at(24*time.Hour), noon))
}

func TestReplay_TheStoredResponse_OrARefusalOfAnotherBody(t *testing.T) {
	t.Parallel()
	stored := &ports.StoredResponse{Fingerprint: [32]byte{1}, Code: 201, Body: []byte("{}")}
	got, err := replay(ports.IdempotencyKey{Fingerprint: [32]byte{1}}, stored)
	require.NoError(t, err)
	require.Equal(t, Response{Code: 201, Body: []byte("{}"), Replayed: true}, got)
	got, err = replay(ports.IdempotencyKey{Fingerprint: [32]byte{2}}, stored)
	require.ErrorIs(t, err, ports.ErrIdempotencyKeyReused)
	require.Zero(t, got)
}

func TestDecide_TheChangeOfARequest_AndItsStoredResponse(t *testing.T) {
	t.Parallel()
	key := &ports.IdempotencyKey{Fingerprint: [32]byte{1}}
	refused, unprepared := errors.New("refused"), errors.New("not prepared")
	made := ports.RowsToWrite{Insert: &ports.NewDeposit{Deposit: &deposit.Deposit{}}}
	kept := made
	kept.Response = &ports.StoredResponse{
		Fingerprint: key.Fingerprint, Code: 201, Body: []byte("{}"), CreatedAt: noon,
	}
	response := Response{Code: 201, Body: []byte("{}")}
	for name, c := range map[string]struct {
		key                *ports.IdempotencyKey
		stored             *ports.StoredResponse
		unprepared, effect error
		writes             ports.RowsToWrite
		response           Response
		err                error
	}{
		"with a key":                {key, nil, nil, nil, kept, response, nil},
		"without a key":             {nil, nil, nil, nil, made, response, nil},
		"the key holds a response":  {key, kept.Response, nil, nil, ports.RowsToWrite{}, Response{}, nil},
		"which precedes a refusal":  {key, kept.Response, unprepared, nil, ports.RowsToWrite{}, Response{}, nil},
		"refused by a check before": {key, nil, unprepared, nil, ports.RowsToWrite{}, Response{}, unprepared},
		"refused by the effect":     {key, nil, nil, refused, ports.RowsToWrite{}, Response{}, refused},
		"an effect that needs more": {
			key, nil, nil, ports.ErrNeedsMoreRows, ports.RowsToWrite{}, Response{}, ports.ErrNeedsMoreRows,
		},
		"refused, and without a key": {nil, nil, nil, refused, ports.RowsToWrite{}, Response{}, refused},
	} {
		request := Request{Now: noon, Decide: func(ports.FoundRows) (ports.RowsToWrite, Response, error) {
			if c.effect != nil {
				return ports.RowsToWrite{}, Response{}, c.effect
			}
			return made, response, nil
		}}
		writes, got, err := request.decide(c.key, ports.FoundRows{Stored: c.stored}, c.unprepared)
		require.Equal(t, c.err, err, name)
		require.Equal(t, c.writes, writes, name)
		require.Equal(t, c.response, got, name)
	}
}

func TestResultOf_EveryOutcome(t *testing.T) {
	t.Parallel()
	seen := map[Result]bool{}
	for want, c := range map[Result]struct {
		response Response
		err      error
	}{
		ResultExecuted:       {Response{Code: 201}, nil},
		ResultReplayed:       {Response{Replayed: true}, nil},
		ResultKeyInUse:       {Response{}, ports.ErrIdempotencyKeyInUse.WithCause(errors.New("locked"))},
		ResultKeyReused:      {Response{}, ports.ErrIdempotencyKeyReused},
		ResultUseCaseRefused: {Response{}, deposit.ErrNotFound},
	} {
		require.Equal(t, want, resultOf(c.response, c.err))
		seen[want] = true
	}
	require.Len(t, seen, len(Results))
}
