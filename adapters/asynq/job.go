package asynq

import (
	"encoding/base64"
	"encoding/binary"
	"errors"
	"slices"
	"time"

	"partnerdeposits/core/id"
	webhookports "partnerdeposits/ports/webhooks"
)

// The payload of a queued task is an encoded job: a byte version, a byte urgent, then for each delivery the ids of
// the subscription and the delivery and the number of its claim in 4 bytes. Its form is fixed, since dispatchers
// of two releases read each other's jobs during a rolling deployment.
const (
	version    = 2
	headerSize = 2
	claimSize  = 2*len(id.ID{}) + 4
)

var errPayload = errors.New("asynq: not a payload of ours")

func encode(j webhookports.DeliveryJob) []byte {
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

func decode(b []byte) (webhookports.DeliveryJob, error) {
	if len(b) < headerSize+claimSize || b[0] != version || (len(b)-headerSize)%claimSize != 0 {
		return webhookports.DeliveryJob{}, errPayload
	}
	j := webhookports.DeliveryJob{Urgent: b[1] == 1}
	for rest := b[headerSize:]; len(rest) > 0; rest = rest[claimSize:] {
		j.Claims = append(j.Claims, webhookports.Claim{
			SubscriptionID: id.ID(rest[:16]), DeliveryID: id.ID(rest[16:32]),
			Seq: int32(binary.BigEndian.Uint32(rest[32:claimSize])), //nolint:gosec // as encoded
		})
	}
	return j, nil
}

// dueHeader is the name of a task's header with the times at which its deliveries were due, in milliseconds since
// 1970: varints in base64, each the difference to the one before; 0 stands for an unknown time.
const dueHeader = "due"

// ownersHeader is the name of a task's header with a byte of flags for each delivery of its job, in base64.
const ownersHeader = "owners"

const (
	requestedBit = 1 << iota // A partner requested the delivery.
	nextBit                  // The id of the delivery's partner follows; otherwise it is that of the delivery before.
)

// headersOf returns the headers of the task for a job; empty for a job without due times and owners.
func headersOf(j webhookports.DeliveryJob) map[string]string {
	b := make([]byte, 0, 2*len(j.Claims)+binary.MaxVarintLen64)
	known, last := false, int64(0)
	for _, c := range j.Claims {
		at := int64(0)
		if !c.DueAt.IsZero() {
			known, at = true, c.DueAt.UnixMilli()
		}
		b, last = binary.AppendVarint(b, at-last), at
	}
	headers := map[string]string{}
	if known {
		headers[dueHeader] = base64.RawStdEncoding.EncodeToString(b)
	}
	if owners := ownersOf(j); owners != nil {
		headers[ownersHeader] = base64.RawStdEncoding.EncodeToString(owners)
	}
	return headers
}

// ownersOf returns the header that names the partners of a job's deliveries; nil where the worker that gets the
// job needs no such header.
func ownersOf(j webhookports.DeliveryJob) []byte {
	if !slices.ContainsFunc(j.Claims, func(c webhookports.Claim) bool {
		return c.Requested || !j.Kept && !c.PartnerID.IsZero()
	}) {
		return nil
	}
	b, last := make([]byte, 0, 2*len(j.Claims)+len(id.ID{})), id.ID{}
	for _, c := range j.Claims {
		bits := byte(0)
		if c.Requested {
			bits |= requestedBit
		}
		if c.PartnerID == last {
			b = append(b, bits)
			continue
		}
		b, last = append(append(b, bits|nextBit), c.PartnerID[:]...), c.PartnerID
	}
	return b
}

// readOwners sets the partners of a job's deliveries from the content of their header. Where it is too short,
// the deliveries stay unchanged.
func readOwners(j *webhookports.DeliveryJob, b []byte) {
	owner, at := id.ID{}, 0
	for ; at < len(j.Claims) && len(b) > 0; at++ {
		bits := b[0]
		if b = b[1:]; bits&nextBit != 0 {
			if len(b) < len(owner) {
				return
			}
			owner, b = id.ID(b[:len(owner)]), b[len(owner):]
		}
		j.Claims[at].PartnerID, j.Claims[at].Requested = owner, bits&requestedBit != 0
	}
}

// readHeaders sets the partners and due times of a job's deliveries from the task's headers. Without the header
// of due times, or with one of the wrong length, they stay unknown.
func readHeaders(j *webhookports.DeliveryJob, headers map[string]string) {
	if owners, err := base64.RawStdEncoding.DecodeString(headers[ownersHeader]); err == nil {
		readOwners(j, owners)
	}
	b, err := base64.RawStdEncoding.DecodeString(headers[dueHeader])
	if err != nil {
		return
	}
	due, last := make([]time.Time, len(j.Claims)), int64(0)
	for i := range due {
		step, n := binary.Varint(b)
		if n <= 0 {
			return
		}
		b, last = b[n:], last+step
		if last != 0 {
			due[i] = time.UnixMilli(last)
		}
	}
	for i := range due {
		j.Claims[i].DueAt = due[i]
	}
}
