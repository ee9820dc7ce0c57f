package asynq

import (
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	webhookports "partnerdeposits/ports/webhooks"
)

func TestPayload_ReadsAsItWasWritten(t *testing.T) {
	job := webhookports.Job{Lane: webhookports.SlowLane, Urgent: true, Claims: []webhookports.Claim{
		{DeliveryID: id.ID{1}, SubscriptionID: id.ID{8}, Seq: 1},
		{DeliveryID: id.ID{2}, SubscriptionID: id.ID{9}, Seq: 70_000},
	}}
	got, err := decode(webhookports.SlowLane, encode(job))
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(job, got))
}

func TestPayload_OfAnotherForm_IsRefused(t *testing.T) {
	good := encode(webhookports.Job{Claims: []webhookports.Claim{{DeliveryID: id.ID{1}, Seq: 1}}})
	for _, b := range [][]byte{nil, {}, good[:len(good)-1], append(good[:len(good):len(good)], 0),
		append([]byte{1}, good[1:]...), good[:headerSize]} {
		_, err := decode(webhookports.FastLane, b)
		require.ErrorIs(t, err, errPayload)
	}
}

// A dispatcher of the release before reads this payload and no other, so its bytes are fixed.
func TestPayload_OfAJobWithDueTimes_HasTheBytesOfARelease(t *testing.T) {
	job := webhookports.Job{Urgent: true,
		Claims: []webhookports.Claim{{DeliveryID: id.ID{2}, SubscriptionID: id.ID{1}, Seq: 3, DueAt: time.UnixMilli(1)}}}
	zeros := strings.Repeat("00", 15)
	require.Equal(t, "0201"+"01"+zeros+"02"+zeros+"00000003", hex.EncodeToString(encode(job)))
}

func TestHeaders_OfAJob_CarryTheDueTimes(t *testing.T) {
	at := time.UnixMilli(1_790_000_000_123)
	job := webhookports.Job{Lane: webhookports.FastLane, Claims: []webhookports.Claim{
		{DeliveryID: id.ID{1}, Seq: 1, DueAt: at}, {DeliveryID: id.ID{2}, Seq: 1},
		{DeliveryID: id.ID{3}, Seq: 1, DueAt: at.Add(-time.Hour)},
	}}
	got, err := decode(webhookports.FastLane, encode(job))
	require.NoError(t, err)
	readHeaders(&got, headersOf(job))
	require.Empty(t, cmp.Diff(job, got))
	for range 29 {
		job.Claims = append(job.Claims, webhookports.Claim{DeliveryID: id.ID{4}, Seq: 1, DueAt: at})
	}
	require.Less(t, len(headersOf(job)[dueHeader]), 100, "asynq writes them again at each step")
}

func TestHeaders_ThatAreMissingOrDoNotFit_LeaveTheJobReadable(t *testing.T) {
	older := webhookports.Job{Claims: []webhookports.Claim{{DeliveryID: id.ID{1}, Seq: 1}, {DeliveryID: id.ID{2}, Seq: 1}}}
	require.Nil(t, headersOf(older))
	for _, headers := range []map[string]string{nil, {}, {dueHeader: ""}, {dueHeader: "AA"}, {dueHeader: "%"},
		{"other": "x"}} {
		got, err := decode("", encode(older))
		require.NoError(t, err)
		readHeaders(&got, headers)
		require.Empty(t, cmp.Diff(older, got), "%v", headers)
	}
}
