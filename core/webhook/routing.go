package webhook

import (
	"crypto/sha256"
	"encoding/json"
	"slices"

	"partnerdeposits/core/id"
)

// Route returns the event under which a subscription gets a transition: the most specific of its events.
// specific is the transition's own event. ok is false when the subscription gets no delivery (service.md, "Event
// names").
func Route(subscribed []EventName, specific EventName) (event EventName, ok bool) {
	if slices.Contains(subscribed, specific) {
		return specific, true
	}
	if specific != OperatorLinked && slices.Contains(subscribed, DepositStatusChanged) {
		return DepositStatusChanged, true
	}
	return "", false
}

// OriginalID returns the id of the original delivery of an event to a subscription. The id has the event's time and
// depends on nothing else but the two ids, so a primary key allows the delivery once.
func OriginalID(event, subscription id.ID) id.ID {
	const random = 9 // bytes 9 to 15 of an id are random; the bytes before them hold the time, version and variant
	digest := sha256.Sum256(append(event[:], subscription[:]...))
	out := event
	copy(out[random:], digest[:])
	return out
}

// Render returns the body of a delivery. The relay renders a body once, and every attempt sends these bytes. createdAt
// is formatted as in the API; data is JSON.
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

// LinkedPayload is the data of rental_operator.linked (service.md, "Payload, rental_operator.linked").
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
