// Package deposit holds the rules of the rental deposit: amounts and dates, transitions of its status, events, and
// payments (service.md, "Deposit"; api.md §3).
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

// Limits of the amounts and texts of a deposit (service.md, "Limits"; api.md §2). Texts are counted in characters.
const (
	MinAmount        money.Cents = 7_000
	DefaultMaxAmount money.Cents = 250_000
	// The highest ceiling of an account, which catches typing errors.
	MaxAccountCeiling money.Cents = 10_000_000

	MaxRentalContractLength = 255
	MaxDescriptionLength    = 2000
	MaxCommentLength        = 500
	MaxMetadataKeys         = 20
	MaxMetadataKeyLength    = 40
	MaxMetadataValueLength  = 500
)

// Faults of creating, reading and changing a deposit.
var (
	ErrNotFound     = fault.New(fault.NotFound, "deposit_not_found", "There is no such deposit.")
	ErrAccessDenied = fault.New(fault.Forbidden, "deposit_access_denied",
		"This deposit belongs to another partner.")
	ErrBelowMinimum         = fault.New(fault.Invalid, "amount_below_minimum", "amount: is below the minimum.")
	ErrAboveMaximum         = fault.New(fault.Invalid, "amount_above_maximum", "amount: exceeds the maximum.")
	ErrCaptureExceedsAmount = fault.New(fault.Invalid, "capture_exceeds_amount",
		"amount: exceeds the amount of the deposit.")
	ErrTooSmallToCharge = fault.New(fault.Invalid, "capture_below_minimum",
		"amount: is less than can be charged to a card.")
	ErrDateRange        = fault.New(fault.Invalid, "invalid_date_range", "contractEndAt: is before contractStartAt.")
	ErrInvalidReturnURL = fault.New(fault.Invalid, "invalid_return_url", "returnUrl: is invalid.")
	ErrInvalidClient    = fault.New(fault.Invalid, "invalid_client", "clientId: is not a client of this account.")
)

// Deposit is a rental deposit. A time that is not set is zero.
type Deposit struct {
	ID           id.ID
	Reference    string // A short code for the deposit, unambiguous when read aloud: D-7K3M-9Q2X.
	Status       Status
	StatusReason string
	// The deposit's version for optimistic locking: 1 at creation, incremented by every transition.
	Version   int
	AccountID id.ID
	// The partner of the deposit; zero: made on the dashboard for an account without a partner.
	PartnerID id.ID
	// Whether the partner API created the deposit, so that its events carry partnerContext
	// (service.md, "Payload, deposit events").
	ByPartnerAPI bool
	PartnerName  string
	// The operator's external id in the link, as it was when the deposit was made.
	ExternalID string
	ClientID   id.ID
	Client     *ClientDetails // The tenant's present data; nil after erasure.
	Draft
	// Whether the partner did not create the deposit and its link has ended; always false in deposits read inside a
	// transaction.
	PartnerLeft    bool
	CapturedAmount money.Cents
	CheckoutToken  secret.Text // The secret part of the checkout URL; "" if no checkout URL was requested.

	CheckoutExpiresAt time.Time
	CheckoutStartedAt time.Time // When the tenant last did something at checkout.
	ActivatedAt       time.Time
	ExpiresAt         time.Time
	CancelledAt       time.Time
	ClosedAt          time.Time
	CapturedAt        time.Time
	CreatedAt         time.Time
	UpdatedAt         time.Time
}

// ClientDetails is the tenant of a deposit, as shown in API responses and events.
type ClientDetails struct {
	ID        id.ID
	Email     string
	FirstName string
	LastName  string
}

// HideFromFormerPartner removes the tenant's data if PartnerLeft is true, since the tenant has nothing to do with
// that partner.
func (d *Deposit) HideFromFormerPartner() {
	if d.PartnerLeft {
		d.ClientID, d.Client = id.ID{}, nil
	}
}

// InTimeZone returns a copy of the deposit with its times in a time zone, which pages and mails show.
func (d *Deposit) InTimeZone(zone *time.Location) *Deposit {
	out := *d
	for _, at := range []*time.Time{&out.ContractStartAt, &out.ContractEndAt, &out.CheckoutExpiresAt,
		&out.CheckoutStartedAt, &out.ActivatedAt, &out.ExpiresAt, &out.CancelledAt, &out.ClosedAt, &out.CapturedAt,
		&out.CreatedAt, &out.UpdatedAt} {
		*at = at.In(zone)
	}
	return &out
}

// Draft holds the requested terms of a deposit.
type Draft struct {
	Amount          money.Cents
	ContractStartAt time.Time
	ContractEndAt   time.Time
	RentalContract  string
	ReturnURL       string
	URLGeneration   bool // Whether the caller requested a checkout URL (depositUrl).
	Metadata        map[string]string
	Locale          string
}

// Validate checks the requested terms of a new deposit. ceiling is the largest amount for the account.
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
	if d.RentalEnded(now) {
		return ErrDateRange.WithField("contractEndAt", "has passed: the stay is over")
	}
	if utf8.RuneCountInString(d.RentalContract) > MaxRentalContractLength {
		return fault.ErrInvalidField.WithField("rentalContract", "is longer than %d characters", MaxRentalContractLength)
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

// euros formats an amount for a message; "" for an amount beyond money.MaxParsedCents, which was not read exactly.
func euros(c money.Cents) string {
	if c >= money.MaxParsedCents || c <= -money.MaxParsedCents {
		return ""
	}
	return c.String() + " EUR "
}

func validateMetadata(m map[string]string) error {
	if len(m) > MaxMetadataKeys {
		return fault.ErrInvalidField.WithField("metadata", "has more than %d keys", MaxMetadataKeys)
	}
	for k, v := range m {
		if n := utf8.RuneCountInString(k); n == 0 || n > MaxMetadataKeyLength {
			return fault.ErrInvalidField.WithField("metadata", "a key must have 1 to %d characters", MaxMetadataKeyLength)
		}
		if utf8.RuneCountInString(v) > MaxMetadataValueLength {
			return fault.ErrInvalidField.WithField("metadata", "a value is longer than %d characters", MaxMetadataValueLength)
		}
	}
	return nil
}

// Origin says from where a deposit comes.
type Origin struct {
	AccountID    id.ID
	PartnerID    id.ID
	PartnerName  string
	ExternalID   string
	ByPartnerAPI bool
}

// New returns a pending deposit for terms that have passed Draft.Validate. client is nil if the tenant is not known
// yet.
func New(depositID id.ID, reference string, from Origin, d Draft, client *ClientDetails, now time.Time) *Deposit {
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

// Transition is an entry of a deposit's history: one change of its status.
type Transition struct {
	DepositID id.ID
	Version   int
	From      Status
	To        Status
	Trigger   Trigger
	At        time.Time
	Actor     actor.Actor
	// The reason and the comment that the actor gave for the change of status; nil for none.
	Detail  map[string]string
	EventID id.ID // The id of the event about the change of status; zero if no partner is notified.
}

// ApplyTrigger changes the status of the deposit and sets the times that belong to the new status.
//
// Returns the errors of Status.Next, and ErrNotCapturable for a claim at or after expiresAt.
func (d *Deposit) ApplyTrigger(t Trigger, timers TimerDurations, now time.Time) (Transition, error) {
	to, err := d.next(t, now)
	if err != nil {
		return Transition{}, err
	}
	step := Transition{DepositID: d.ID, Version: d.Version + 1, From: d.Status, To: to, Trigger: t, At: now}
	d.Status, d.StatusReason, d.Version, d.UpdatedAt = to, t.StatusReason(), step.Version, now
	switch to {
	case Active:
		d.ActivatedAt = now
		d.ExpiresAt = timers.CoverEndTime(d.ContractEndAt, now)
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

// next returns the status that the deposit would have after a trigger. Returns the errors of ApplyTrigger.
func (d *Deposit) next(t Trigger, now time.Time) (Status, error) {
	to, err := d.Status.Next(t)
	if err == nil && t == TriggerCaptureRequested && !now.Before(d.ExpiresAt) {
		err = ErrNotCapturable.WithMessage("The coverage of this deposit ended at %s.", FormatTimestamp(d.ExpiresAt))
	}
	return to, err
}

// CheckTrigger checks whether the trigger is allowed now. Returns the errors of ApplyTrigger.
func (d *Deposit) CheckTrigger(t Trigger, now time.Time) error {
	_, err := d.next(t, now)
	return err
}

// FormatTimestamp formats a time as RFC 3339 in UTC with milliseconds (api.md §1).
func FormatTimestamp(t time.Time) string { return t.UTC().Format("2006-01-02T15:04:05.000Z") }

// CoversContract reports whether the cover reaches the end of the rental; for a deposit not active yet, if it were
// activated now.
func (d *Deposit) CoversContract(timers TimerDurations, now time.Time) bool {
	end := d.ExpiresAt
	if end.IsZero() {
		end = timers.CoverEndTime(d.ContractEndAt, now)
	}
	return !end.Before(d.ContractEndAt)
}
