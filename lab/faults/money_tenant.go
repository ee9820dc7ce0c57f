package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/core/id"
	"partnerdeposits/lab/formbrowser"
	"partnerdeposits/lab/stripetest"
	"partnerdeposits/lab/world"
)

// Test cards of the provider (payments.md, "Tests without the internet").
const (
	goodCard      = "4242424242424242"
	refusedCard   = "4000000000000002"
	challengeCard = "4000002760003184" // authenticates each time
)

// stay is a deposit from its creation to the last payment, told by its number and the seed.
type stay struct {
	run    *moneyRun
	number uint64
	dice   *rand.Rand
	owner  *testPartner

	deposit id.ID
	token   string
}

// rentalPeriod of the stays. The cover must not end while they are paid.
func rentalPeriod(now time.Time) (from, to string) {
	const days = 24 * time.Hour
	return now.Add(2 * days).UTC().Format(time.RFC3339), now.Add(9 * days).UTC().Format(time.RFC3339)
}

// live takes the stay through its story. Its errors are those of ctx, and of answers that no caller of the service
// expects.
func (s *stay) live(ctx context.Context) error {
	if err := s.create(ctx); err != nil {
		return err
	}
	s.tellOutcomes()
	const cancelled, racing, twoTabs = 0, 1, 2 // of eight stays one each
	switch s.dice.IntN(8) {
	case cancelled:
		if err := s.openPage(ctx, s.browser(), nil); err != nil {
			return err
		}
		return s.cancel(ctx)
	case racing:
		return s.both(ctx, s.pay, s.cancel)
	case twoTabs:
		if err := s.both(ctx, s.pay, s.pay); err != nil {
			return err
		}
	default:
		if err := s.pay(ctx); err != nil {
			return err
		}
	}
	return s.claim(ctx)
}

// both runs two steps at once.
func (s *stay) both(ctx context.Context, a, b func(context.Context) error) error {
	done := make(chan error, 1)
	go func() { done <- a(ctx) }()
	err := b(ctx)
	if other := <-done; other != nil {
		return other
	}
	return err
}

func (s *stay) change() change { return change{number: s.number, owner: s.owner, deposit: s.deposit} }

func (s *stay) create(ctx context.Context) error {
	from, to := rentalPeriod(time.Now())
	body := fmt.Sprintf(`{"accountId":%q,"amount":500,"contractStartAt":%q,"contractEndAt":%q,
		"rentalContract":"%s%d","depositUrlGeneration":true,"returnUrl":"https://%s/back"}`,
		id.Account.Of(s.owner.Account), from, to, contractPrefix, s.number, partnerHost)
	a, ok := s.run.suite.load.insist(s.change(), "/deposits", uuidOf(s.run.suite.o.seed, s.number, 0), body)
	var made struct{ ID, DepositURL string }
	if !ok || !a.OK() {
		return s.unexpected(ctx, "the deposit was not created")
	}
	if err := a.Into(&made); err != nil {
		return err
	}
	address, err := url.Parse(made.DepositURL)
	if err != nil {
		return err
	}
	s.deposit, _ = id.Deposit.Parse(made.ID)
	s.token = strings.TrimPrefix(address.Path, "/checkout/")
	return nil
}

// tellOutcomes tells the fake how the card behaves when the tenant is away.
func (s *stay) tellOutcomes() {
	later := stripetest.Outcome{DeclineCode: "insufficient_funds", AdviceCode: "try_again_later"}
	outcomes := [][]stripetest.Outcome{
		nil, nil, {later}, {later, later}, {later, later, later, later, later},
		{{Code: "authentication_required", DeclineCode: "authentication_required"}},
		{{DeclineCode: "lost_card", AdviceCode: "do_not_try_again"}},
	}
	s.run.fake.OffSession(id.Deposit.Of(s.deposit), outcomes[s.dice.IntN(len(outcomes))]...)
}

// cancel cancels the deposit through the API. A deposit that is secured meanwhile stays as it is.
func (s *stay) cancel(context.Context) error {
	const step = 1
	s.insist("/cancel", step, `{}`)
	return nil
}

// insist repeats a request of the partner until it is answered. A conflict with the deposit's status is an answer.
func (s *stay) insist(action string, step byte, body string) world.Answer {
	l := s.run.suite.load
	call := world.Call{APIKey: s.owner.Key, Path: s.path() + action, Key: uuidOf(s.run.suite.o.seed, s.number, step),
		Body: body}
	return l.ask(l.ctx, s.number, call)
}

func (s *stay) path() string { return "/deposits/" + id.Deposit.Of(s.deposit) }

// claim captures a part of the deposit if it is secured, and sees the collection to its end.
func (s *stay) claim(ctx context.Context) error {
	if d, err := s.read(ctx); err != nil || d.Status != active {
		return err
	}
	const keeps = 4 // one deposit of four is not captured
	if s.dice.IntN(keeps) == 0 {
		return nil
	}
	const step = 2
	if a := s.insist("/capture", step, fmt.Sprintf(`{"amount":%d,"reason":"damage"}`, 20+s.dice.IntN(400))); !a.OK() {
		return s.unexpected(ctx, "the capture was answered %d %s", a.Status, a.Body)
	}
	s.run.captured.Add(1)
	// a dispatcher that dies leaves a payment to the others a minute later, and they die, too
	const patience = 6 * time.Minute
	for deadline := time.Now().Add(patience); ; {
		d, err := s.read(ctx)
		switch {
		case err != nil:
			return err
		case d.Collection.Status == "paid":
			s.run.ended.Add(1)
			return s.complain(ctx)
		case d.Collection.Status == "failed":
			return s.unexpected(ctx, "nobody cancelled the collection of %s", id.Deposit.Of(s.deposit))
		case d.Collection.Status == "awaiting_tenant":
			if err := s.payDebt(ctx); err != nil {
				return err
			}
		case time.Now().After(deadline):
			return s.unexpected(ctx, "the collection of %s is %q since %v", id.Deposit.Of(s.deposit),
				d.Collection.Status, patience)
		}
		if err := pause(ctx, 150*time.Millisecond); err != nil {
			return nil //nolint:nilerr // the run ends
		}
	}
}

// complain lets staff give a part of some charges back.
func (s *stay) complain(ctx context.Context) error {
	const every = 3
	if s.draw(every) != 0 {
		return nil
	}
	rows, err := query(ctx, s.run.suite, pgx.RowTo[id.ID],
		`SELECT id FROM payments WHERE deposit_id = $1 AND kind = 'collection'`, s.deposit)
	if err != nil || len(rows) != 1 {
		return s.unexpected(ctx, "%d collections: %v", len(rows), err)
	}
	err = s.run.suite.admin(ctx, "collection", "refund", "--id", id.Payment.Of(rows[0]), "--amount", "10.00")
	if err != nil {
		return s.unexpected(ctx, "%v", err)
	}
	s.run.refunds.Add(1)
	return nil
}

type moneyDeposit struct {
	Status     status
	Collection struct{ Status string }
}

func (s *stay) read(ctx context.Context) (d moneyDeposit, err error) {
	a := s.run.suite.load.ask(ctx, s.number, world.Call{APIKey: s.owner.Key, Method: http.MethodGet, Path: s.path()})
	switch {
	case a.OK():
		return d, a.Into(&d)
	case ctx.Err() != nil:
		return d, ctx.Err()
	}
	return d, s.unexpected(ctx, "the deposit was answered %d %s", a.Status, a.Body)
}

// unexpected records a violation, unless the run ends.
func (s *stay) unexpected(ctx context.Context, format string, args ...any) error {
	if ctx.Err() == nil && s.run.suite.load.ctx.Err() == nil {
		s.run.suite.receipts.violate("money", "stay "+strconv.FormatUint(s.number, 10)+": "+format, args...)
	}
	return ctx.Err()
}

func (s *stay) browser() *formbrowser.Browser {
	const patience = 30 * time.Second
	return formbrowser.New(patience, s.run.transport)
}
