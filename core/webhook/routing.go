package webhook

import (
	"crypto/sha256"
	"encoding/json"
	"slices"

	"partnerdeposits/core/id"
)

// Route applies the dispatch rule of the spec: of a transition, a subscription gets exactly one delivery, with the most
// specific event it subscribed to. specific is the transition's own event; ok is false where nothing is to be sent.
func Route(subscribed []EventName, specific EventName) (event EventName, ok bool) {
	if slices.Contains(subscribed, specific) {
		return specific, true
	}
	if specific != OperatorLinked && slices.Contains(subscribed, DepositStatusChanged) {
		return DepositStatusChanged, true
	}
	return "", false
}

// OriginalID is the id of the one original delivery of an event to a subscription: the event's, and so its time, with its
// random end mixed with the subscription. Making it twice gives it twice, and a primary key then allows it once.
func OriginalID(event, subscription id.ID) id.ID {
	const random = 9 // bytes 9 to 15 are random; the bits before them tell version and variant
	digest := sha256.Sum256(append(event[:], subscription[:]...))
	out := event
	copy(out[random:], digest[:])
	return out
}

// Render gives the body of a delivery. It is called once per delivery: the bytes are kept and sent as they are ever after.
// createdAt is in the outside form of times, data is JSON.
func Render(event EventName, createdAt string, data []byte) []byte {
	b := make([]byte, 0, len(data)+len(event)+len(createdAt)+40)
	b = append(b, `{"event":"`...)
	b = append(b, event...)
	b = append(b, `","createdAt":"`...)
	b = append(b, createdAt...)
	b = append(b, `","data":`...)
	b = append(b, data...)
	return append(b, '}')
}

// LinkedPayload is the data of rental_operator.linked (spec, "Payload, rental_operator.linked").
type LinkedPayload struct {
	PartnerID  string `json:"partnerId"`
	AccountID  string `json:"accountId"`
	ExternalID string `json:"externalId"`
	LinkedAt   string `json:"linkedAt"`
}

// JSON encodes the payload.
func (p LinkedPayload) JSON() []byte {
	out, err := json.Marshal(p)
	if err != nil { // strings always encode
		panic("webhook: payload does not encode: " + err.Error())
	}
	return out
}
