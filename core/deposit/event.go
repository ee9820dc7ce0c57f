package deposit

import (
	"encoding/json"

	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
)

// Names of the events of a deposit (service.md, "Event names").
const (
	EventStatusChanged = "deposit.status_changed"
	EventActivated     = "deposit.activated"
	EventCaptured      = "deposit.captured"
	EventExpired       = "deposit.expired"
	EventCancelled     = "deposit.cancelled"
)

// EventNames lists the name of every event of a deposit.
var EventNames = []string{EventStatusChanged, EventActivated, EventCaptured, EventExpired, EventCancelled}

// EventName returns the name of the event about a change to status s; EventStatusChanged if s has no name of its
// own.
func (s Status) EventName() string {
	switch s {
	case Active:
		return EventActivated
	case Captured:
		return EventCaptured
	case Closed:
		return EventExpired
	case Cancelled:
		return EventCancelled
	case Pending, Incomplete, PaymentIssue:
	}
	return EventStatusChanged
}

// EventPayload is the data of a deposit event in the documented order (service.md, "Payload, deposit events").
// Fields of api.md §5 come last.
type EventPayload struct {
	ID              string              `json:"id"`
	Reference       string              `json:"reference"`
	RentalContract  string              `json:"rentalContract"`
	Status          Status              `json:"status"`
	PreviousStatus  Status              `json:"previousStatus"`
	AmountCents     int64               `json:"amountCents"`
	ContractStartAt string              `json:"contractStartAt"`
	ContractEndAt   string              `json:"contractEndAt"`
	Client          *EventPayloadClient `json:"client"`
	PartnerContext  *PartnerContext     `json:"partnerContext,omitempty"`
	Version         int                 `json:"version"`
	// The captured amount in cents; null unless the deposit is captured.
	CapturedAmountCents *money.Cents `json:"capturedAmountCents"`
}

// EventPayloadClient is the tenant in a deposit event; null if not known or erased.
type EventPayloadClient struct {
	ID        string `json:"id"`
	Email     string `json:"email"`
	FirstName string `json:"firstName"`
	LastName  string `json:"lastName"`
}

// PartnerContext names the partner that created the deposit, in the deposit's events.
type PartnerContext struct {
	PartnerID   string `json:"partnerId"`
	PartnerName string `json:"partnerName"`
	ExternalID  string `json:"externalId"`
}

// EventData returns the JSON of the event about a transition. The bytes are stored and never rendered again.
func (d *Deposit) EventData(step Transition) []byte {
	p := EventPayload{
		ID: id.Deposit.Of(d.ID), Reference: d.Reference, RentalContract: d.RentalContract,
		Status: step.To, PreviousStatus: step.From, AmountCents: int64(d.Amount),
		ContractStartAt: FormatTimestamp(d.ContractStartAt), ContractEndAt: FormatTimestamp(d.ContractEndAt),
		PartnerContext: d.PartnerContext(), Version: step.Version,
	}
	if step.To == Captured {
		p.CapturedAmountCents = &d.CapturedAmount
	}
	if d.Client != nil {
		p.Client = &EventPayloadClient{ID: id.Client.Of(d.Client.ID), Email: d.Client.Email, FirstName: d.Client.FirstName,
			LastName: d.Client.LastName}
	}
	return p.JSON()
}

// JSON encodes the data of a deposit event as JSON.
func (p EventPayload) JSON() []byte {
	out, err := json.Marshal(p)
	if err != nil { // Encoding cannot fail: the payload holds only strings and integers.
		panic("deposit: payload does not encode: " + err.Error())
	}
	return out
}

// PartnerContext returns the partner that created the deposit; nil if it was not created through the partner API.
func (d *Deposit) PartnerContext() *PartnerContext {
	if !d.ByPartnerAPI {
		return nil
	}
	return &PartnerContext{PartnerID: id.Partner.Of(d.PartnerID), PartnerName: d.PartnerName, ExternalID: d.ExternalID}
}
