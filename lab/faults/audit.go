package main

import (
	"context"
	"errors"
	"slices"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
)

// fact is a committed change of a deposit.
type fact struct {
	event, partner, deposit id.ID
	version                 int // of the deposit, after the change
	name                    webhook.EventName
	committed               time.Time
}

// The load's changes, and the deposit status that each event announces.
var (
	nameOf = map[status]webhook.EventName{
		cancelled: webhook.DepositCancelled, active: webhook.DepositActivated, captured: webhook.DepositCaptured,
		closed: webhook.DepositExpired,
	}
	statusOf = map[webhook.EventName]status{
		webhook.DepositCancelled: cancelled, webhook.DepositActivated: active, webhook.DepositCaptured: captured,
		webhook.DepositExpired: closed,
	}
)

// record is a row of deliveries.
type record struct {
	pair
	id       id.ID
	event    webhook.EventName
	state    webhook.State
	attempts int
	sum      []byte
}

// audit runs after the load has ended. It compares the API's responses, the committed changes, the delivery log and the
// receivers' receipts.
type audit struct {
	w             *suite
	cut           time.Time // changes committed before must have been delivered
	exempt        period    // changes answered in this period may be lost: a restore takes them back
	facts         map[id.ID]fact
	records       map[pair]record
	refusal       map[id.ID]int // failed attempts in the log, by delivery
	inFlightLists map[pair][]time.Time
	taken         map[key]receipts
	result        tally
}

// tally is the result of an audit.
type tally struct {
	accepted   int // changes answered with 200
	reconciled int // changes with an unknown outcome that were committed
	byTime     int // expiries, which no caller requested
	deliveries int
	failed     int // deliveries that the log gives up after all attempts
	cancelled  int // deliveries of deleted subscriptions
	lost       int
	extra      int // 2xx beyond the first of a delivery
	late       int // extra copies whose earlier response came too late for the sender
	alone      int // extra copies during faults of Redis alone that no kill or stall explains
	inFlight   int // deliveries in flight at kills and stalls
	mails      mailTally
	followed   int // events that the followers of the feeds have processed
	feed       feedCounts
}

func (w *suite) audit(ctx context.Context, cut time.Time) (tally, error) {
	a := &audit{w: w, cut: cut, taken: w.receipts.snapshot()}
	for _, step := range []func(context.Context) error{a.readFacts, a.readRecords, a.readRefusals} {
		if err := step(ctx); err != nil {
			return a.result, err
		}
	}
	a.readStocks()
	a.answers()
	a.coverage()
	a.copies()
	err := errors.Join(a.feeds(ctx), a.creations(ctx), a.mails(ctx))
	return a.result, err
}

// readFacts reads the committed changes from the history of the deposits. The history is independent of deliveries.
func (a *audit) readFacts(ctx context.Context) error {
	found, err := query(ctx, a.w, func(row pgx.CollectableRow) (f fact, err error) {
		var to status
		var filed bool
		err = row.Scan(&f.event, &f.partner, &f.deposit, &f.version, &to, &f.committed, &filed)
		f.name = nameOf[to]
		if !filed && f.committed.Before(a.cut) {
			a.lose("%s of %s is no event", f.name, id.Deposit.Of(f.deposit))
		}
		return f, err
	}, `SELECT t.event_id, d.partner_id, t.deposit_id, t.version, t.to_status, t.at, e.id IS NOT NULL
		FROM deposit_transitions t JOIN deposits d ON d.id = t.deposit_id
		LEFT JOIN events e ON e.partner_id = d.partner_id AND e.id = t.event_id WHERE t.event_id IS NOT NULL`)
	if err != nil {
		return err
	}
	a.facts = make(map[id.ID]fact, len(found))
	told := map[key]id.ID{}
	for _, f := range found {
		a.facts[f.event] = f
		k := key{deposit: f.deposit, status: statusOf[f.name]}
		if _, twice := told[k]; twice {
			a.w.receipts.violate("event", "deposit %s became %s twice", id.Deposit.Of(f.deposit), k.status)
		}
		told[k] = f.event
		if k.status == closed {
			a.result.byTime++
		}
	}
	return nil
}

func (a *audit) readRecords(ctx context.Context) error {
	found, err := query(ctx, a.w, func(row pgx.CollectableRow) (r record, err error) {
		err = row.Scan(&r.subscription, &r.pair.event, &r.id, &r.event, &r.state, &r.attempts, &r.sum)
		return r, err
	}, `SELECT subscription_id, event_id, id, event, state, attempts, sha256(body)
		FROM deliveries WHERE redelivery_of IS NULL AND NOT test`)
	if err != nil {
		return err
	}
	a.records = make(map[pair]record, len(found))
	for _, r := range found {
		if _, twice := a.records[r.pair]; twice {
			a.w.receipts.violate("delivery", "event %s has two deliveries to %s", r.pair.event, r.subscription)
		}
		a.records[r.pair] = r
	}
	a.result.deliveries = len(found)
	return nil
}

func (a *audit) readRefusals(ctx context.Context) error {
	type refusals struct {
		delivery id.ID
		n        int
	}
	found, err := query(ctx, a.w, func(row pgx.CollectableRow) (r refusals, err error) {
		err = row.Scan(&r.delivery, &r.n)
		return r, err
	}, `SELECT delivery_id, count(*) FROM delivery_attempts WHERE result <> 'success' GROUP BY 1`)
	a.refusal = make(map[id.ID]int, len(found))
	for _, r := range found {
		a.refusal[r.delivery] = r.n
	}
	return err
}

func (a *audit) readStocks() {
	a.w.mu.Lock()
	defer a.w.mu.Unlock()
	a.inFlightLists = map[pair][]time.Time{}
	for _, s := range a.w.inFlightLists {
		for _, p := range s.pairs {
			a.inFlightLists[p] = append(a.inFlightLists[p], s.at)
		}
	}
}

// answers compares the API's responses with the committed changes.
func (a *audit) answers() {
	happened := make(map[key]bool, len(a.facts))
	for _, f := range a.facts {
		happened[key{deposit: f.deposit, status: statusOf[f.name]}] = true
	}
	for _, c := range a.w.load.made() {
		did := happened[key{deposit: c.deposit, status: c.want}]
		switch {
		case c.answered.IsZero() && did:
			a.result.reconciled++
		case c.answered.IsZero():
		case did:
			a.result.accepted++
		default:
			a.w.receipts.violate("answered and gone", "%s %s was answered 200 and did not happen",
				id.Deposit.Of(c.deposit), c.want)
		}
	}
}

// coverage checks that every committed change reached every endpoint that subscribed to its event.
func (a *audit) coverage() {
	byPartner := map[id.ID][]*endpoint{}
	for _, e := range a.w.receivers.all() {
		byPartner[e.owner.ID] = append(byPartner[e.owner.ID], e)
	}
	for _, f := range a.facts {
		if !f.committed.Before(a.cut) {
			continue
		}
		for _, e := range byPartner[f.partner] {
			a.cover(f, e)
		}
	}
}

func (a *audit) cover(f fact, e *endpoint) {
	name, matches := route(e.events, string(f.name))
	r, there := a.records[pair{e.id, f.event}]
	switch {
	case !there && matches && e.concerns(f):
		a.lose("no delivery of %s of %s to endpoint %d", f.name, id.Deposit.Of(f.deposit), e.index)
		return
	case !there:
		return
	case !matches || string(r.event) != name:
		a.w.receipts.violate("routing", "endpoint %d has a delivery of %s for %s", e.index, r.event, f.name)
	}
	got, known := a.taken[key{f.deposit, statusOf[f.name], e.index}]
	taken := len(got.taken) > 0
	if known && string(got.sum[:]) != string(r.sum) {
		a.w.receipts.violate("body", "the body of %s is not what endpoint %d got", id.Delivery.Of(r.id), e.index)
	}
	switch {
	case r.state == webhook.Succeeded && !taken:
		a.lose("%s of %s is said to have reached endpoint %d, which never took it", f.name, id.Deposit.Of(f.deposit),
			e.index)
	case r.state == webhook.Failed && a.refusal[r.id] < len(retries):
		a.lose("%s of %s to endpoint %d was given up after %d of %d attempts", f.name, id.Deposit.Of(f.deposit),
			e.index, a.refusal[r.id], len(retries))
	case r.state == webhook.Failed:
		a.result.failed++
	case r.state == webhook.Cancelled && e.deleted.IsZero():
		a.lose("%s of %s to endpoint %d was cancelled, and the subscription lives", f.name, id.Deposit.Of(f.deposit),
			e.index)
	case r.state == webhook.Cancelled:
		a.result.cancelled++
	case r.state != webhook.Succeeded && !taken:
		a.lose("%s of %s to endpoint %d is still in state %d", f.name, id.Deposit.Of(f.deposit), e.index, r.state)
	}
}

func (a *audit) lose(format string, args ...any) {
	a.result.lost++
	a.w.receipts.violate("lost", format, args...)
}

// concerns tells whether the subscription certainly existed when the fact was committed and later. A fact close to the
// deletion does not count.
func (e *endpoint) concerns(f fact) bool {
	return f.committed.After(e.created) && (e.ending.IsZero() || f.committed.Before(e.ending.Add(-time.Second)))
}

// route gives the event under which a subscription gets a change: the most specific event that it subscribed to
// (service.md, "Dispatch rule"). The rule is written a second time here, independent of the code under test.
func route(subscribed []string, specific string) (name string, matches bool) {
	switch {
	case slices.Contains(subscribed, specific):
		return specific, true
	case slices.Contains(subscribed, string(webhook.DepositStatusChanged)):
		return string(webhook.DepositStatusChanged), true
	}
	return "", false
}

// copies checks that every extra 2xx has an explanation.
func (a *audit) copies() {
	pairOf := map[key]pair{}
	for _, f := range a.facts {
		for _, e := range a.w.receivers.all() {
			if e.owner.ID == f.partner {
				pairOf[key{f.deposit, statusOf[f.name], e.index}] = pair{e.id, f.event}
			}
		}
	}
	for k, got := range a.taken {
		p, known := pairOf[k]
		if !known {
			a.w.receipts.violate("phantom", "endpoint %d was told that %s is %s, which never happened", k.endpoint,
				id.Deposit.Of(k.deposit), k.status)
			continue
		}
		if got.varies {
			a.w.receipts.violate("body", "two copies of %s %s at endpoint %d are not the same",
				id.Deposit.Of(k.deposit), k.status, k.endpoint)
		}
		a.inFlight(p, got)
		if extra := len(got.taken) - 1; extra > 0 {
			a.explain(k, p, got, extra)
		}
	}
}

// inTransit is the time after the death of a process in which a copy of its own may still arrive on a busy machine.
const inTransit = 5 * time.Second

// inFlight counts the kills and stalls at which this delivery was sent but not recorded.
func (a *audit) inFlight(p pair, got receipts) {
	for _, at := range a.inFlightLists[p] {
		if len(got.taken) > 0 && got.taken[0].Before(at.Add(inTransit)) {
			a.result.inFlight++
		}
	}
}

// explain allows an extra copy for each kill or stall during which the delivery was in flight, and another for each
// attempt that the sender gave up before the response arrived.
func (a *audit) explain(k key, p pair, got receipts, extra int) {
	a.result.extra += extra
	kills := 0
	for _, at := range a.inFlightLists[p] {
		if got.taken[0].Before(at.Add(inTransit)) {
			kills++
		}
	}
	late := max(0, a.refusal[a.records[p].id]-got.refused)
	for _, at := range got.taken[len(got.taken)-max(0, extra-kills):] {
		if a.w.redisAlone(at) {
			a.result.alone++
		}
	}
	a.result.late += min(late, max(0, extra-kills))
	if extra > kills+late {
		a.w.receipts.violate("duplicate", "%s %s was taken %d times by endpoint %d, at %s; "+
			"%d kills or stalls found it in flight, %d attempts were given up on too early",
			id.Deposit.Of(k.deposit), k.status, len(got.taken), k.endpoint, clocks(got.taken), kills, late)
	}
}

func clocks(times []time.Time) (out []string) {
	for _, t := range times {
		out = append(out, t.Format("15:04:05.000"))
	}
	return out
}

// creations checks that every deposit was created once and that no work is left.
func (a *audit) creations(ctx context.Context) error {
	twice, err := query(ctx, a.w, pgx.RowTo[string],
		`SELECT rental_contract FROM deposits GROUP BY 1 HAVING count(*) > 1`)
	for _, contract := range twice {
		a.w.receipts.violate("idempotency", "%s was created more than once", contract)
	}
	return err
}
