package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path"
	"strconv"
	"time"

	"golang.org/x/sync/errgroup"

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
	*moneyRun
	change
	dice  *rand.Rand
	token string
}

// live takes the stay through its story. Its errors are those of ctx, and of answers that no caller of the service
// expects.
func (s *stay) live(ctx context.Context) error {
	if err := s.create(ctx); err != nil {
		return err
	}
	later := stripetest.Outcome{DeclineCode: "insufficient_funds", AdviceCode: "try_again_later"}
	outcomes := [][]stripetest.Outcome{ // how the card behaves when the tenant is away
		nil, nil, {later}, {later, later}, {later, later, later, later, later},
		{{Code: "authentication_required", DeclineCode: "authentication_required"}},
		{{DeclineCode: "lost_card", AdviceCode: "do_not_try_again"}},
	}
	s.fake.OffSession(id.Deposit.Of(s.deposit), outcomes[s.dice.IntN(len(outcomes))]...)
	const cancelled, racing, twoTabs = 0, 1, 2 // of eight stays one each
	switch s.dice.IntN(8) {
	case cancelled:
		if err := s.openPage(ctx, s.browser(), nil); err != nil {
			return err
		}
		return s.cancel(ctx)
	case racing:
		return both(ctx, s.pay, s.cancel)
	case twoTabs:
		if err := both(ctx, s.pay, s.pay); err != nil {
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
func both(ctx context.Context, a, b func(context.Context) error) error {
	var group errgroup.Group
	group.Go(func() error { return a(ctx) })
	group.Go(func() error { return b(ctx) })
	return group.Wait()
}

func (s *stay) create(ctx context.Context) error {
	a, ok := s.load.request(s.change, `,"depositUrlGeneration":true,"returnUrl":"https://`+partnerHost+`/back"`)
	var made struct{ ID, DepositURL string }
	if !ok || !a.OK() {
		return s.unexpected(ctx, "the deposit was not created")
	}
	if err := a.Into(&made); err != nil {
		return err
	}
	s.deposit, _ = id.Deposit.Parse(made.ID)
	s.token = path.Base(made.DepositURL)
	return nil
}

// cancel cancels the deposit through the API. A deposit that is secured meanwhile stays as it is.
func (s *stay) cancel(context.Context) error {
	const step = 1
	s.insist("/cancel", step, `{}`)
	return nil
}

// insist repeats a request of the partner until it is answered. A conflict with the deposit's status is an answer.
func (s *stay) insist(action string, step byte, body string) world.Answer {
	return s.load.ask(s.load.ctx, s.number,
		world.Call{APIKey: s.owner.Key, Path: s.path() + action, Key: s.load.key(s.number, step), Body: body})
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
	s.captured.Add(1)
	// a dispatcher that dies leaves a payment to the others a minute later, and they die, too
	const patience = 6 * time.Minute
	for deadline := time.Now().Add(patience); ; {
		d, err := s.read(ctx)
		switch {
		case err != nil:
			return err
		case d.Collection.Status == "paid":
			s.ended.Add(1)
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
	payment, err := value[id.ID](ctx, s.suite,
		`SELECT id FROM payments WHERE deposit_id = $1 AND kind = 'collection'`, s.deposit)
	if err == nil {
		err = s.admin(ctx, "collection", "refund", "--id", id.Payment.Of(payment), "--amount", "10.00")
	}
	if err != nil {
		return s.unexpected(ctx, "%v", err)
	}
	s.refunds.Add(1)
	return nil
}

type moneyDeposit struct {
	Status     status
	Collection struct{ Status string }
}

func (s *stay) read(ctx context.Context) (d moneyDeposit, err error) {
	a := s.load.ask(ctx, s.number, world.Call{APIKey: s.owner.Key, Method: http.MethodGet, Path: s.path()})
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
	if ctx.Err() == nil && s.load.ctx.Err() == nil {
		s.receipts.violate("money", "stay "+strconv.FormatUint(s.number, 10)+": "+format, args...)
	}
	return ctx.Err()
}

func (s *stay) browser() *formbrowser.Browser {
	const patience = 30 * time.Second
	return formbrowser.New(patience, s.transport)
}
