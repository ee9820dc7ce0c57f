package webhooks

import (
	"context"
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/webhook"
)

const (
	// testWait bounds how long a request for a test delivery waits for the attempt: the endpoint's ten seconds and
	// two more.
	testWait = 12 * time.Second
	// testPoll is the interval at which a test delivery is read while a request waits for its attempt, since the
	// wake-up notification of its end may be lost.
	testPoll = time.Second
	// testLastRead is the time that the last read of a test delivery may take, after testWait.
	testLastRead = 2 * time.Second
	// TestDepositIDPrefix begins the id of the deposit in a test payload; no such deposit exists (api.md §5).
	TestDepositIDPrefix = "dep_test"
)

// SendTestDelivery sends a synthetic deposit.activated to a subscription and returns the delivery after its single
// attempt, successful or not. Returns webhook_not_found, webhook_disabled, test_event_not_subscribed or
// webhook.ErrTooManyTestDeliveries.
func (s *Service) SendTestDelivery(ctx context.Context, by partner.Caller, subscriptionID id.ID) (webhook.Delivery,
	error) {
	now := s.deps.Clock.Now()
	delivery := webhook.Delivery{
		ID: s.deps.Entropy.NewID(), SubscriptionID: subscriptionID, EventID: s.deps.Entropy.NewID(),
		DepositID: s.deps.Entropy.NewID(),
		Test:      true, State: webhook.DeliveryStateWaiting, DueAt: now, CreatedAt: now,
	}
	// Wait for the notification before the delivery exists, so that the end of the delivery is not missed.
	rung, leave := s.deps.Waiting.Add(by.Partner.ID)
	defer leave()
	err := s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		sub, err := s.deps.Subscriptions.LockRowShared(ctx, by.Partner.ID, subscriptionID)
		if err != nil {
			return err
		}
		event, err := testEvent(sub)
		if err != nil {
			return err
		}
		delivery.Event = event
		delivery.Body = webhook.RenderBody(event, deposit.FormatTimestamp(now), s.testPayload(by.Partner,
			delivery.DepositID, now))
		if err := s.deps.Deliveries.InsertTest(ctx, delivery); err != nil {
			return err
		}
		return s.boundTests(ctx, by.Partner.ID)
	})
	if err != nil {
		return webhook.Delivery{}, err
	}
	s.deps.Doorbell.WakeScans()
	// The wait may take longer than the usual deadline of requests, so it has its own.
	wait, cancel := context.WithTimeout(context.WithoutCancel(ctx), testWait+testLastRead)
	defer cancel()
	return s.attempted(wait, subscriptionID, delivery.ID, rung)
}

// boundTests refuses a test delivery that the transaction has added although as many as allowed are in flight.
//
// Returns webhook.ErrTooManyTestDeliveries.
func (s *Service) boundTests(ctx context.Context, partnerID id.ID) error {
	inFlight, err := s.deps.Deliveries.CountTestsInFlight(ctx, partnerID)
	if err == nil && inFlight > webhook.MaxTestDeliveriesInFlight {
		err = webhook.ErrTooManyTestDeliveries
	}
	return err
}

// testEvent returns the event name under which a subscription gets a test delivery.
//
// Returns webhook_disabled or test_event_not_subscribed.
func testEvent(sub webhook.Subscription) (webhook.EventName, error) {
	event, subscribed := webhook.ChooseEventName(sub.Events, webhook.EventDepositActivated)
	switch {
	case !sub.Enabled:
		return "", webhook.ErrDisabled
	case !subscribed:
		return "", webhook.ErrTestNotSubscribed
	}
	return event, nil
}

func (s *Service) attempted(ctx context.Context, subscriptionID, deliveryID id.ID,
	rung func() <-chan struct{}) (webhook.Delivery, error) {
	deadline := s.deps.After(testWait)
	for {
		heard := rung()
		d, err := s.deps.Deliveries.Delivery(ctx, subscriptionID, deliveryID)
		if err != nil || d.State >= webhook.DeliveryStateSucceeded {
			return d, err
		}
		select {
		case <-heard:
		case <-s.deps.After(testPoll):
		case <-deadline:
			return d, nil
		case <-ctx.Done():
			return d, nil
		}
	}
}

func (s *Service) testPayload(p partner.Partner, depositID id.ID, now time.Time) []byte {
	const day = 24 * time.Hour
	return deposit.EventPayload{
		ID:             TestDepositIDPrefix + "_" + depositID.Encode(),
		Reference:      deposit.NewReference(s.deps.Entropy.Bytes(deposit.ReferenceBytes)),
		RentalContract: "TEST", Status: deposit.Active, PreviousStatus: deposit.Pending, AmountCents: 50_000,
		ContractStartAt: deposit.FormatTimestamp(now.Add(day)), ContractEndAt: deposit.FormatTimestamp(now.Add(8 * day)),
		Client: &deposit.EventPayloadClient{
			ID: "cli_test_" + s.deps.Entropy.NewID().Encode(), Email: "tenant@example.com", FirstName: "Test",
			LastName: "Tenant",
		},
		PartnerContext: &deposit.PartnerContext{PartnerID: id.Partner.Of(p.ID), PartnerName: p.Name, ExternalID: "test"},
		Version:        2,
	}.JSON()
}
