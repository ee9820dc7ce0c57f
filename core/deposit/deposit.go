// Package deposit holds the rental deposit: amounts and dates (this file), the table of transitions (state.go), the
// events (event.go), and the payments of a deposit (payment.go) (service.md, "Deposit"; api.md §3).
package deposit

import (
	"time"
	"unicode/utf8"

	"partnerdeposits/core/actor"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	"partnerdeposits/core/returnurl"
	"partnerdeposits/core/secret"
)

// Limits of a deposit (service.md, "Limits"; api.md §2). Texts are counted in characters.
const (
	MinAmount         money.Cents = 7_000
	DefaultMaxAmount  money.Cents = 250_000
	MaxCeiling        money.Cents = 10_000_000 // the highest ceiling that can be negotiated; a typing error is higher
	MaxRentalContract             = 255
	MaxDescription                = 2000 // of a capture
	MaxComment                    = 500  // of an operator's release or cancellation
	MaxMetadataKeys               = 20
	MaxMetadataKey                = 40
	MaxMetadataValue              = 500
)

// Faults of creating and changing a deposit.
var (
	ErrNotFound         = fault.New(fault.NotFound, "deposit_not_found", "There is no such deposit.")
	ErrAccessDenied     = fault.New(fault.Forbidden, "deposit_access_denied", "This deposit belongs to another partner.")
	ErrBelowMinimum     = fault.New(fault.Invalid, "amount_below_minimum", "amount: is below the minimum.")
	ErrAboveMaximum     = fault.New(fault.Invalid, "amount_above_maximum", "amount: exceeds the maximum.")
	ErrExceedsAmount    = fault.New(fault.Invalid, "capture_exceeds_amount", "amount: exceeds the amount of the deposit.")
	ErrTooSmallToCharge = fault.New(fault.Invalid, "capture_below_minimum",
		"amount: is less than can be charged to a card.")
	ErrDateRange        = fault.New(fault.Invalid, "invalid_date_range", "contractEndAt: is before contractStartAt.")
	ErrInvalidReturnURL = fault.New(fault.Invalid, "invalid_return_url", "returnUrl: is invalid.")
	ErrInvalidClient    = fault.New(fault.Invalid, "invalid_client", "clientId: is not a client of this account.")
)

// Deposit is a rental deposit. A time that is not set is zero.
type Deposit struct {
	ID           id.ID
	Reference    string // short and unambiguous when read aloud: D-7K3M-9Q2X
	Status       Status
	StatusReason string
	Version      int // 1 at creation, incremented by every transition; guards every update
	AccountID    id.ID
	PartnerID    id.ID // zero: made on the dashboard and not linked to a partner
	ByPartnerAPI bool  // decides whether events carry partnerContext (service.md, "Payload, deposit events")
	PartnerName  string
	ExternalID   string // as it was in the link under which the deposit was made
	ClientID     id.ID
	Client       *Client // the person as known now; nil after erasure
	Draft                // the terms, as they were requested
	// the partner did not create the deposit, and its link with the account is over; only reads outside transactions tell
	PartnerLeft    bool
	CapturedAmount money.Cents
	CheckoutToken  secret.Text // the secret part of the checkout URL; "" unless URLGeneration

	CheckoutExpiresAt time.Time
	CheckoutStartedAt time.Time // the tenant's last step in checkout; CheckoutIdleAfter counts from here
	ActivatedAt       time.Time
	ExpiresAt         time.Time
	CancelledAt       time.Time
	ClosedAt          time.Time
	CapturedAt        time.Time
	CreatedAt         time.Time
	UpdatedAt         time.Time
}

// Client is the tenant of a deposit, as shown in answers and events.
type Client struct {
	ID        id.ID
	Email     string
	FirstName string
	LastName  string
}

// HideFromLeft removes the tenant where the partner has left: a tenant who comes later has nothing to do with that
// partner. The deposits that a partner created stay whole.
func (d *Deposit) HideFromLeft() {
	if d.PartnerLeft {
		d.ClientID, d.Client = id.ID{}, nil
	}
}

// In gives a copy of the deposit whose times carry a time zone. Pages and mails show times in the zone that they carry.
func (d *Deposit) In(zone *time.Location) *Deposit {
	out := *d
	for _, at := range []*time.Time{&out.ContractStartAt, &out.ContractEndAt, &out.CheckoutExpiresAt,
		&out.CheckoutStartedAt, &out.ActivatedAt, &out.ExpiresAt, &out.CancelledAt, &out.ClosedAt, &out.CapturedAt,
		&out.CreatedAt, &out.UpdatedAt} {
		*at = at.In(zone)
	}
	return &out
}

// Draft is a request for a deposit. The types of all fields have been checked.
type Draft struct {
	Amount          money.Cents
	ContractStartAt time.Time
	ContractEndAt   time.Time
	RentalContract  string
	ReturnURL       string
	URLGeneration   bool // the caller asked for depositUrl
	Metadata        map[string]string
	Locale          string
}

// Validate checks the draft of a deposit that is made now; ceiling is the operator's maximum amount.
//
// Returns, in this order, ErrBelowMinimum, ErrAboveMaximum, ErrDateRange, invalid_field for rentalContract,
// missing_field or ErrInvalidReturnURL for returnUrl, and invalid_field for metadata.
func (d Draft) Validate(ceiling money.Cents, now time.Time) error {
	if d.Amount < MinAmount {
		return ErrBelowMinimum.WithMessage("amount: %sis below the minimum of %s EUR", euros(d.Amount), MinAmount)
	}
	if d.Amount > ceiling {
		return ErrAboveMaximum.WithMessage("amount: %sexceeds this operator's maximum of %s EUR", euros(d.Amount), ceiling)
	}
	if d.ContractEndAt.Before(d.ContractStartAt) {
		return ErrDateRange
	}
	if d.StayOver(now) {
		return ErrDateRange.WithField("contractEndAt", "has passed: the stay is over")
	}
	if utf8.RuneCountInString(d.RentalContract) > MaxRentalContract {
		return fault.ErrInvalidField.WithField("rentalContract", "is longer than %d characters", MaxRentalContract)
	}
	if d.URLGeneration && d.ReturnURL == "" {
		return fault.ErrMissingField.WithField("returnUrl", "is required when depositUrlGeneration is true")
	}
	if d.ReturnURL != "" {
		if _, err := returnurl.Parse(d.ReturnURL, true); err != nil {
			return ErrInvalidReturnURL.WithField("returnUrl", "%s", err.Error())
		}
	}
	return validateMetadata(d.Metadata)
}

// euros formats an amount for a message. An amount beyond money.Limit was not read exactly and is left out.
func euros(c money.Cents) string {
	if c >= money.Limit || c <= -money.Limit {
		return ""
	}
	return c.String() + " EUR "
}

func validateMetadata(m map[string]string) error {
	if len(m) > MaxMetadataKeys {
		return fault.ErrInvalidField.WithField("metadata", "has more than %d keys", MaxMetadataKeys)
	}
	for k, v := range m {
		if n := utf8.RuneCountInString(k); n == 0 || n > MaxMetadataKey {
			return fault.ErrInvalidField.WithField("metadata", "a key must have 1 to %d characters", MaxMetadataKey)
		}
		if utf8.RuneCountInString(v) > MaxMetadataValue {
			return fault.ErrInvalidField.WithField("metadata", "a value is longer than %d characters", MaxMetadataValue)
		}
	}
	return nil
}

// Origin names the account of a deposit, the partner linked to the account, and whether the partner API was used.
type Origin struct {
	AccountID    id.ID
	PartnerID    id.ID
	PartnerName  string
	ExternalID   string
	ByPartnerAPI bool
}

// New makes a pending deposit from a draft that passed Validate. client is nil if the tenant is not known yet.
func New(depositID id.ID, reference string, from Origin, d Draft, client *Client, now time.Time) *Deposit {
	dep := &Deposit{
		ID: depositID, Reference: reference, Status: Pending, Version: 1,
		AccountID: from.AccountID, PartnerID: from.PartnerID, ByPartnerAPI: from.ByPartnerAPI, PartnerName: from.PartnerName,
		ExternalID: from.ExternalID,
		Client:     client, Draft: d, CheckoutExpiresAt: CheckoutExpiry(d.ContractEndAt, now), CreatedAt: now, UpdatedAt: now,
	}
	if client != nil {
		dep.ClientID = client.ID
	}
	return dep
}

// Transition is a change of a deposit's status, kept as the history of the deposit.
type Transition struct {
	DepositID id.ID
	Version   int // of the deposit after the transition
	From      Status
	To        Status
	Trigger   Trigger
	At        time.Time
	Actor     actor.Actor
	Detail    map[string]string // reason and comment of the actor; nil for none
	EventID   id.ID             // of the event; zero if no partner is notified
}

// Apply changes the status of the deposit, with the times that belong to the new status. A refused trigger changes
// nothing.
//
// Returns the errors of Status.Next, and ErrNotCapturable for a claim at or after expiresAt.
func (d *Deposit) Apply(t Trigger, timers Timers, now time.Time) (Transition, error) {
	to, err := d.next(t, now)
	if err != nil {
		return Transition{}, err
	}
	step := Transition{DepositID: d.ID, Version: d.Version + 1, From: d.Status, To: to, Trigger: t, At: now}
	d.Status, d.StatusReason, d.Version, d.UpdatedAt = to, t.Reason(), step.Version, now
	switch to {
	case Active:
		d.ActivatedAt = now
		d.ExpiresAt = timers.CoverageEnd(d.ContractEndAt, now)
	case Cancelled:
		d.CancelledAt = now
	case Closed:
		d.ClosedAt = now
	case Captured:
		d.CapturedAt = now
	case Pending, Incomplete, PaymentIssue:
	}
	return step, nil
}

// next is the status after trigger t now. Returns the errors of Apply.
func (d *Deposit) next(t Trigger, now time.Time) (Status, error) {
	to, err := d.Status.Next(t)
	if err == nil && t == CaptureRequested && !now.Before(d.ExpiresAt) {
		err = ErrNotCapturable.WithMessage("The coverage of this deposit ended at %s.", Timestamp(d.ExpiresAt))
	}
	return to, err
}

// Allows reports whether the trigger is possible now, before anybody pulls it. Returns the errors of Apply.
func (d *Deposit) Allows(t Trigger, now time.Time) error {
	_, err := d.next(t, now)
	return err
}

// Timestamp formats a time for answers and events: RFC 3339 in UTC with milliseconds (api.md §1).
func Timestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// CoversContract reports whether the cover reaches contractEndAt. Before activation the answer is that of an activation
// now.
func (d *Deposit) CoversContract(timers Timers, now time.Time) bool {
	end := d.ExpiresAt
	if end.IsZero() {
		end = timers.CoverageEnd(d.ContractEndAt, now)
	}
	return !end.Before(d.ContractEndAt)
}
