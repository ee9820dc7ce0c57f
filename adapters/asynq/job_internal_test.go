package asynq

import (
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/ports"
)

func TestPayload_ReadsAsItWasWritten(t *testing.T) {
	job := ports.Job{Lane: ports.SlowLane, Urgent: true, Claims: []ports.Claim{
		{DeliveryID: id.ID{1}, SubscriptionID: id.ID{8}, Seq: 1}, {DeliveryID: id.ID{2}, SubscriptionID: id.ID{9}, Seq: 70_000},
	}}
	got, err := decode(ports.SlowLane, encode(job))
	require.NoError(t, err)
	require.Empty(t, cmp.Diff(job, got))
}

func TestPayload_OfAnotherForm_IsRefused(t *testing.T) {
	good := encode(ports.Job{Claims: []ports.Claim{{DeliveryID: id.ID{1}, Seq: 1}}})
	for _, b := range [][]byte{nil, {}, good[:len(good)-1], append(good[:len(good):len(good)], 0), append([]byte{1}, good[1:]...), good[:headerSize]} {
		_, err := decode(ports.FastLane, b)
		require.ErrorIs(t, err, errPayload)
	}
}
