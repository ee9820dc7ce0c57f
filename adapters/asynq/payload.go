package asynq

import (
	"encoding/binary"
	"errors"

	"partnerdeposits/core/id"
	"partnerdeposits/ports"
)

// A job's payload, small because asynq rewrites it with every step: version, urgent, then for each claim its endpoint,
// its delivery and its seq.
const (
	version    = 2
	headerSize = 2
	claimSize  = 2*len(id.ID{}) + 4
)

var errPayload = errors.New("asynq: not a payload of ours")

func encode(j ports.Job) []byte {
	b := make([]byte, 0, headerSize+len(j.Claims)*claimSize)
	b = append(b, version, 0)
	if j.Urgent {
		b[1] = 1
	}
	for _, c := range j.Claims {
		b = append(append(b, c.SubscriptionID[:]...), c.DeliveryID[:]...)
		b = binary.BigEndian.AppendUint32(b, uint32(c.Seq)) //nolint:gosec // counts up from 1
	}
	return b
}

func decode(lane ports.Lane, b []byte) (ports.Job, error) {
	if len(b) < headerSize+claimSize || b[0] != version || (len(b)-headerSize)%claimSize != 0 {
		return ports.Job{}, errPayload
	}
	j := ports.Job{Lane: lane, Urgent: b[1] == 1}
	for rest := b[headerSize:]; len(rest) > 0; rest = rest[claimSize:] {
		j.Claims = append(j.Claims, ports.Claim{
			SubscriptionID: id.ID(rest[:16]), DeliveryID: id.ID(rest[16:32]), Seq: int32(binary.BigEndian.Uint32(rest[32:claimSize])), //nolint:gosec // as encoded
		})
	}
	return j, nil
}
