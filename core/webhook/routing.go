package webhook

import (
	"crypto/sha256"
	"encoding/json"
	"slices"

	"partnerdeposits/core/id"
)

// ChooseEventName returns the event under which a subscription is notified of a change: specific if it is
// subscribed, or else, for a deposit, deposit.status_changed. ok is false for no delivery
// (service.md, "Event names").
func ChooseEventName(subscribed []EventName, specific EventName) (event EventName, ok bool) {
	if slices.Contains(subscribed, specific) {
		return specific, true
	}
	if specific != EventOperatorLinked && slices.Contains(subscribed, EventDepositStatusChanged) {
		return EventDepositStatusChanged, true
	}
	return "", false
}

// OriginalDeliveryID returns the id of an event's first delivery to a subscription. It depends on the two ids
// alone, so the primary key prevents a second one.
func OriginalDeliveryID(event, subscription id.ID) id.ID {
	const random = 9 // Bytes 9 to 15 of an id are random; those before hold time, version and variant.
	digest := sha256.Sum256(append(event[:], subscription[:]...))
	out := event
	copy(out[random:], digest[:])
	return out
}

// RenderBody returns a delivery's JSON body, rendered once for all attempts. createdAt has the API's time format;
// data is JSON.
func RenderBody(event EventName, createdAt string, data []byte) []byte {
	b := make([]byte, 0, len(data)+len(event)+len(createdAt)+40)
	b = append(b, `{"event":"`...)
	b = append(b, event...)
	b = append(b, `","createdAt":"`...)
	b = append(b, createdAt...)
	b = append(b, `","data":`...)
	b = append(b, data...)
	return append(b, '}')
}

// OperatorLinkedPayload is the data of rental_operator.linked (service.md, "Payload, rental_operator.linked").
type OperatorLinkedPayload struct {
	PartnerID  string `json:"partnerId"`
	AccountID  string `json:"accountId"`
	ExternalID string `json:"externalId"`
	LinkedAt   string `json:"linkedAt"`
}

// JSON encodes the data of the event as JSON.
func (p OperatorLinkedPayload) JSON() []byte {
	out, err := json.Marshal(p)
	if err != nil { // Strings can always be encoded.
		panic("webhook: payload does not encode: " + err.Error())
	}
	return out
}
