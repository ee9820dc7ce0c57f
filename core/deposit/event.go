package deposit

import (
	"encoding/json"
	"time"

	"partnerdeposits/core/id"
)

// Names of the events that a deposit fires (spec, "Event names").
const (
	EventStatusChanged = "deposit.status_changed"
	EventActivated     = "deposit.activated"
	EventCaptured      = "deposit.captured"
	EventExpired       = "deposit.expired"
	EventCancelled     = "deposit.cancelled"
)

// EventName is the most specific event of a move to s; the general one where there is none.
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

// Payload is the data of a deposit event, field by field as the spec lists them ("Payload, deposit events").
type Payload struct {
	ID              string         `json:"id"`
	Reference       string         `json:"reference"`
	RentalContract  string         `json:"rentalContract"`
	Status          Status         `json:"status"`
	PreviousStatus  Status         `json:"previousStatus"`
	AmountCents     int64          `json:"amountCents"`
	ContractStartAt string         `json:"contractStartAt"`
	ContractEndAt   string         `json:"contractEndAt"`
	Client          *PayloadClient `json:"client"`
	PartnerContext  *Context       `json:"partnerContext,omitempty"`
}

// PayloadClient is the tenant in a payload; null where none is known or the person was erased.
type PayloadClient struct {
	ID        string `json:"id"`
	Email     string `json:"email"`
	FirstName string `json:"firstName"`
	LastName  string `json:"lastName"`
}

// Context is the partnerContext of a deposit made through the partner API.
type Context struct {
	PartnerID   string `json:"partnerId"`
	PartnerName string `json:"partnerName"`
	ExternalID  string `json:"externalId"`
}

// EventData renders the data of step's event as it stands at the commit of the change; it is never rendered again.
func (d *Deposit) EventData(step Transition) []byte {
	p := Payload{
		ID: id.Deposit.Of(d.ID), Reference: d.Reference, RentalContract: d.RentalContract,
		Status: step.To, PreviousStatus: step.From, AmountCents: int64(d.Amount),
		ContractStartAt: Timestamp(d.ContractStartAt), ContractEndAt: Timestamp(d.ContractEndAt),
		PartnerContext: d.PartnerContext(),
	}
	if d.Client != nil {
		p.Client = &PayloadClient{ID: id.Client.Of(d.Client.ID), Email: d.Client.Email, FirstName: d.Client.FirstName, LastName: d.Client.LastName}
	}
	return p.JSON()
}

// JSON encodes the payload.
func (p Payload) JSON() []byte {
	out, err := json.Marshal(p)
	if err != nil { // strings and integers always encode
		panic("deposit: payload does not encode: " + err.Error())
	}
	return out
}

// PartnerContext tells through which partner the deposit was made; nil unless it came through the partner API.
func (d *Deposit) PartnerContext() *Context {
	if !d.ByPartnerAPI {
		return nil
	}
	return &Context{PartnerID: id.Partner.Of(d.PartnerID), PartnerName: d.PartnerName, ExternalID: d.ExternalID}
}

// Timestamp is the outside form of every time: RFC 3339 in UTC with milliseconds.
func Timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }
