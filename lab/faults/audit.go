package main

import (
	"context"
	"fmt"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
)

// committedChange is a committed status change of a deposit, read from the database.
type committedChange struct {
	Event, Partner, Deposit id.ID
	Version                 int // The deposit's version after the change.
	Status                  status
	Committed               time.Time
	// Whether the change was stored as an event of the partner's feed.
	Filed bool
}

// nameOf maps a deposit's status to the event that announces it.
var nameOf = map[status]webhook.EventName{
	cancelled: webhook.EventDepositCancelled, active: webhook.EventDepositActivated,
	captured: webhook.EventDepositCaptured,
	closed:   webhook.EventDepositExpired,
}

func (f committedChange) name() webhook.EventName { return nameOf[f.Status] }

func (f committedChange) String() string {
	return fmt.Sprintf("%s of %s", f.name(), id.Deposit.Of(f.Deposit))
}

// at returns what a receiver sees of a committed change at an endpoint.
func (f committedChange) at(endpoint int) deliveryKey {
	return deliveryKey{f.Deposit, f.Status, endpoint}
}

// record is a stored delivery with its number of failed attempts.
type record struct {
	pair
	ID      id.ID
	Name    webhook.EventName
	State   webhook.DeliveryState
	Refused int
	Sum     []byte
}

// audit compares, after the load, the API's responses, the committed changes, the delivery log and the receivers'
// receipts.
type audit struct {
	*suite
	// Changes committed before this time must have reached the receivers.
	cut     time.Time
	facts   map[id.ID]committedChange
	records map[pair]record
	taken   map[deliveryKey]receipts
	result  tally
}

// tally holds an audit's counts of changes, deliveries, losses and extra copies.
type tally struct {
	events     int // Committed status changes of deposits.
	accepted   int // Changes of deposits that the API answered with 200.
	deliveries int
	lost       int
	// Copies of deliveries that receivers answered with 2xx after an earlier copy.
	extra int
	// Extra copies that were sent because the receiver's answer came too late.
	late int
	// Feed events that the simulated partners have stored.
	followed int
}

func (w *suite) audit(ctx context.Context, cut time.Time) (tally, error) {
	a := &audit{suite: w, cut: cut, taken: w.receipts.snapshot()}
	if err := inTurn(ctx, a.readFacts, a.readRecords); err != nil {
		return a.result, err
	}
	a.answers()
	a.coverage()
	a.copies()
	a.feeds()
	// Every deposit must have been created only once.
	twice, err := query(ctx, a.suite, pgx.RowTo[string],
		`SELECT rental_contract FROM deposits GROUP BY 1 HAVING count(*) > 1`)
	for _, contract := range twice {
		a.receipts.violate("idempotency", "%s was created more than once", contract)
	}
	return a.result, err
}

// readFacts reads the committed changes from the deposits' history, which does not depend on deliveries.
func (a *audit) readFacts(ctx context.Context) error {
	found, err := query(ctx, a.suite, pgx.RowToStructByPos[committedChange], `
		SELECT t.event_id, d.partner_id, t.deposit_id, t.version, t.to_status, t.at, e.id IS NOT NULL
		FROM deposit_transitions t JOIN deposits d ON d.id = t.deposit_id
		LEFT JOIN events e ON e.partner_id = d.partner_id AND e.id = t.event_id WHERE t.event_id IS NOT NULL`)
	a.facts = make(map[id.ID]committedChange, len(found))
	told := map[deliveryKey]bool{}
	for _, f := range found {
		a.facts[f.Event] = f
		if !f.Filed && f.Committed.Before(a.cut) {
			a.lose("%v is no event", f)
		}
		if told[f.at(0)] {
			a.receipts.violate("event", "deposit %s became %s twice", id.Deposit.Of(f.Deposit), f.Status)
		}
		told[f.at(0)] = true
	}
	a.result.events = len(found)
	return err
}

func (a *audit) readRecords(ctx context.Context) error {
	found, err := query(ctx, a.suite, pgx.RowToStructByPos[record], `
		SELECT subscription_id, event_id, id, event, state, coalesce(refused, 0), sha256(body)
		FROM deliveries LEFT JOIN (SELECT delivery_id, count(*) AS refused FROM delivery_attempts
			WHERE result <> 'success' GROUP BY 1) a ON delivery_id = id
		WHERE redelivery_of IS NULL AND NOT test`)
	a.records = make(map[pair]record, len(found))
	for _, r := range found {
		if _, twice := a.records[r.pair]; twice {
			a.receipts.violate("delivery", "event %s has two deliveries to %s", r.Event, r.Subscription)
		}
		a.records[r.pair] = r
	}
	a.result.deliveries = len(found)
	return err
}

// answers checks that every change answered with 200 was committed.
func (a *audit) answers() {
	happened := make(map[deliveryKey]bool, len(a.facts))
	for _, f := range a.facts {
		happened[f.at(0)] = true
	}
	for _, c := range a.load.changes {
		if c.answered.IsZero() {
			continue
		}
		a.result.accepted++
		if !happened[deliveryKey{deposit: c.deposit, status: c.want}] {
			a.receipts.violate("answered and gone", "%s %s was answered 200 and did not happen",
				id.Deposit.Of(c.deposit), c.want)
		}
	}
}

// coverage checks that every committed change reached every endpoint subscribed to its event.
func (a *audit) coverage() {
	endpoints := a.receivers.all()
	for _, f := range a.facts {
		for _, e := range endpoints {
			if f.Partner == e.owner.ID && f.Committed.Before(a.cut) {
				a.cover(f, e)
			}
		}
	}
}

func (a *audit) cover(f committedChange, e *endpoint) {
	name, matches := route(e.events, f.name())
	r, there := a.records[pair{e.id, f.Event}]
	switch {
	case !there && matches && e.concerns(f):
		a.lose("no delivery of %v to endpoint %d", f, e.index)
		return
	case !there:
		return
	case !matches || r.Name != name:
		a.receipts.violate("routing", "endpoint %d has a delivery of %s for %s", e.index, r.Name, f.name())
	}
	got, known := a.taken[f.at(e.index)]
	taken := len(got.taken) > 0
	if known && string(got.sum[:]) != string(r.Sum) {
		a.receipts.violate("body", "the body of %s is not what endpoint %d got", id.Delivery.Of(r.ID), e.index)
	}
	lose := func(how string, args ...any) {
		a.lose("%v to endpoint %d "+how, append([]any{f, e.index}, args...)...)
	}
	switch {
	case r.State == webhook.DeliveryStateSucceeded && !taken:
		lose("is said to have arrived, and was never taken")
	case r.State == webhook.DeliveryStateFailed && r.Refused < len(retries):
		lose("was given up after %d of %d attempts", r.Refused, len(retries))
	case r.State == webhook.DeliveryStateCancelled && e.deleted.IsZero():
		lose("was cancelled, and the subscription lives")
	case r.State < webhook.DeliveryStateSucceeded && !taken:
		lose("is still in state %d", r.State)
	}
}

func (a *audit) lose(format string, args ...any) {
	a.result.lost++
	a.receipts.violate("lost", format, args...)
}

// concerns reports whether a committed change must reach a webhook endpoint, whose subscription existed then and
// for a second longer.
func (e *endpoint) concerns(f committedChange) bool {
	return f.Committed.After(e.created) && (e.ending.IsZero() || f.Committed.Before(e.ending.Add(-time.Second)))
}

// route returns the most specific event under which a subscription gets a change (service.md, "Dispatch rule");
// matches reports whether there is one. It does not use the code under test.
func route(subscribed []webhook.EventName, specific webhook.EventName) (name webhook.EventName, matches bool) {
	for _, name := range []webhook.EventName{specific, webhook.EventDepositStatusChanged} {
		if slices.Contains(subscribed, name) {
			return name, true
		}
	}
	return "", false
}

// copies checks that a fault explains each extra copy of a delivery that a receiver answered with 2xx.
func (a *audit) copies() {
	pairOf := map[deliveryKey]pair{}
	for _, e := range a.receivers.all() {
		for _, f := range a.facts {
			if e.owner.ID == f.Partner {
				pairOf[f.at(e.index)] = pair{e.id, f.Event}
			}
		}
	}
	for k, got := range a.taken {
		p, known := pairOf[k]
		if !known {
			a.receipts.violate("phantom", "%v, which never happened", k)
			continue
		}
		if got.varies {
			a.receipts.violate("body", "two copies are not the same: %v", k)
		}
		if len(got.taken) > 0 {
			a.explain(k, p, got)
		}
	}
}

// inTransit is how long after a process's death a copy that it sent may still arrive.
const inTransit = 5 * time.Second

// explain checks that a delivery has no extra copies beyond one per kill or stall while in flight, and one per
// attempt given up before the answer.
func (a *audit) explain(k deliveryKey, p pair, got receipts) {
	kills := 0
	for _, at := range a.inFlight[p] {
		if got.taken[0].Before(at.Add(inTransit)) {
			kills++
		}
	}
	extra := len(got.taken) - 1
	a.result.extra += extra
	unexplained := max(0, extra-kills)
	late := max(0, a.records[p].Refused-got.refused)
	a.result.late += min(late, unexplained)
	if unexplained > late {
		a.receipts.violate("duplicate", "%v %d times, at %v; "+
			"%d kills or stalls found it in flight, %d attempts were given up on too early", k, len(got.taken), got.taken, kills,
			late)
	}
}
