package ports

import (
	"context"
	"time"

	"partnerdeposits/core/actor"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/tenant"
	"partnerdeposits/core/webhook"
)

// SupportDeposits finds deposits and what happened to them, for the admin commands.
type SupportDeposits interface {
	// DepositByReference returns deposit.ErrNotFound.
	DepositByReference(ctx context.Context, reference string) (*deposit.Deposit, error)
	// History gives the transitions of a deposit, oldest first.
	History(ctx context.Context, depositID id.ID) ([]deposit.Transition, error)
	// DeliveriesOfDeposit gives up to limit deliveries of all subscriptions that tell of a deposit, newest first, without bodies.
	DeliveriesOfDeposit(ctx context.Context, depositID id.ID, limit int) ([]webhook.Delivery, error)
}

// SupportPeople finds tenants' records and accounts, for the admin commands.
type SupportPeople interface {
	// ClientByID gives a client of any account, erased ones too. Returns tenant.ErrNotFound.
	ClientByID(ctx context.Context, clientID id.ID) (tenant.Client, error)
	// ClientsByEmail gives up to limit clients that are not erased, newest first. ASCII letters are compared in lower case.
	ClientsByEmail(ctx context.Context, email string, limit int) ([]tenant.Client, error)
	// AccountOfOperator returns connect.ErrAccountNotFound.
	AccountOfOperator(ctx context.Context, operatorID id.ID) (id.ID, error)
}

// SupportEvents finds events, deliveries and subscriptions of any partner, for the admin commands.
type SupportEvents interface {
	// FindEvent finds an event on the outbox, among those set aside, or filed. Returns webhook.ErrEventNotFound.
	FindEvent(ctx context.Context, eventID id.ID) (EventView, error)
	// DeliveriesOfEvent gives the deliveries of an event, oldest first, without bodies. Redeliveries of an event without a
	// deposit are not found.
	DeliveriesOfEvent(ctx context.Context, e EventView) ([]webhook.Delivery, error)
	// FindDelivery gives a delivery of any subscription, with its attempts. Returns webhook.ErrDeliveryNotFound.
	FindDelivery(ctx context.Context, deliveryID id.ID) (webhook.Delivery, error)
	// FindSubscription gives a subscription, deleted ones too. Returns webhook.ErrNotFound.
	FindSubscription(ctx context.Context, subscriptionID id.ID) (SubscriptionView, error)
	// LastDeliveries gives the newest deliveries of a subscription, up to limit, without bodies.
	LastDeliveries(ctx context.Context, subscriptionID id.ID, limit int) ([]webhook.Delivery, error)
}

// EventPlace is where an event stands on its way to the subscriptions (delivery.md, point 2).
type EventPlace string

// The places of an event.
const (
	EventOnOutbox EventPlace = "outbox"    // no relay has taken the event
	EventSetAside EventPlace = "set_aside" // the relay could not file the event
	EventFiled    EventPlace = "filed"     // the event has its deliveries
)

// EventView is an event without its data.
type EventView struct {
	ID        id.ID
	PartnerID id.ID
	Name      webhook.EventName
	DepositID id.ID // zero for rental_operator.linked
	CreatedAt time.Time
	Place     EventPlace
	Reason    string // why the event was set aside; "" otherwise
}

// SubscriptionView is a subscription with the record of its endpoint.
type SubscriptionView struct {
	webhook.Subscription
	DeletedAt    time.Time // zero: not deleted
	Failures     int       // consecutive failed attempts
	FailingSince time.Time // zero: the last attempt succeeded, or there was none
	HeldUntil    time.Time // zero: the circuit is closed
	Slow         bool      // deliveries go through the slow lane
}

// AuditFilter selects entries of the audit log: those with this request id, this subject, or one of these actors.
type AuditFilter struct {
	RequestID string
	Subject   string
	Actors    []actor.Actor
}

// AuditReader reads the audit log, for the admin commands.
type AuditReader interface {
	// AuditEntries gives up to limit entries, newest first.
	AuditEntries(ctx context.Context, f AuditFilter, limit int) ([]AuditEntry, error)
}
