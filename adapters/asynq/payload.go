package asynq

import (
	"encoding/binary"
	"errors"

	"partnerdeposits/core/id"
	"partnerdeposits/ports"
)

// A job's payload, small because asynq rewrites it with every step: version, urgent, the endpoint, then a delivery and
// its seq for each claim.
const (
	version    = 1
	headerSize = 2 + len(id.ID{})
	claimSize  = len(id.ID{}) + 4
)

var errPayload = errors.New("asynq: not a payload of ours")

func encode(j ports.Job) []byte {
	b := make([]byte, 0, headerSize+len(j.Claims)*claimSize)
	b = append(b, version, 0)
	if j.Urgent {
		b[1] = 1
	}
	b = append(b, j.Claims[0].SubscriptionID[:]...)
	for _, c := range j.Claims {
		b = append(b, c.DeliveryID[:]...)
		b = binary.BigEndian.AppendUint32(b, uint32(c.Seq)) //nolint:gosec // counts up from 1
	}
	return b
}

func decode(lane ports.Lane, b []byte) (ports.Job, error) {
	if len(b) < headerSize+claimSize || b[0] != version || (len(b)-headerSize)%claimSize != 0 {
		return ports.Job{}, errPayload
	}
	j := ports.Job{Lane: lane, Urgent: b[1] == 1}
	sub := id.ID(b[2:headerSize])
	for rest := b[headerSize:]; len(rest) > 0; rest = rest[claimSize:] {
		j.Claims = append(j.Claims, ports.Claim{
			DeliveryID: id.ID(rest[:16]), SubscriptionID: sub, Seq: int32(binary.BigEndian.Uint32(rest[16:claimSize])), //nolint:gosec // as encoded
		})
	}
	return j, nil
}
