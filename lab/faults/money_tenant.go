package main

import (
	"context"
	"fmt"
	"math/rand/v2"
	"net/http"
	"path"
	"path/filepath"
	"strings"
	"sync"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/lab/formbrowser"
	"partnerdeposits/lab/procs"
	"partnerdeposits/lab/stripetest"
	"partnerdeposits/lab/world"
)

// stay simulates the tenant and partner of one deposit up to its last payment. Its number and the seed determine
// its course.
type stay struct {
	*moneyRun
	change
	dice  *rand.Rand
	token string // Token in the URL of the checkout.
}

// newStay returns the next stay, with a deposit of the first partner.
func newStay(r *moneyRun) *stay {
	number := uint64(r.next.Add(1)) //nolint:gosec // counts from 1
	return &stay{moneyRun: r, change: change{number: number, owner: r.partners[0]}, dice: r.load.dice(number)}
}

// partnerHost is the host of the partner's site, to which tenants return.
const partnerHost = "partner.test"

// live takes a stay through creation, payment, capture and refund. Unexpected answers are violations.
func (s *stay) live(ctx context.Context) {
	a, ok := s.load.request(s.change, `,"depositUrlGeneration":true,"returnUrl":"https://`+partnerHost+`/back"`)
	var made struct{ ID, DepositURL string }
	if err := a.DecodeData(&made); err != nil || !ok || !a.OK() {
		s.unexpected(ctx, "the deposit was not created: %v", err)
		return
	}
	s.deposit, _ = id.Deposit.Parse(made.ID)
	s.token = path.Base(made.DepositURL)
	later := stripetest.ChargeOutcome{DeclineCode: "insufficient_funds", AdviceCode: "try_again_later"}
	// The bank's answers to charges without the tenant.
	outcomes := [][]stripetest.ChargeOutcome{
		nil, {later}, {later, later, later, later, later},
		{{DeclineCode: "lost_card", AdviceCode: "do_not_try_again"}},
	}
	s.fake.SetOffSessionOutcomes(id.Deposit.Of(s.deposit), outcomes[s.dice.IntN(len(outcomes))]...)
	cancel := func() { s.ask("/cancel", 1, `{}`) }
	meanwhile := func() {}
	var beside sync.WaitGroup
	switch s.dice.IntN(8) {
	case 0:
		beside.Go(cancel)
	case 1: // The tenant submits the checkout form in a second tab too.
		beside.Go(func() { s.submit(ctx, "agree", meanwhile) })
	case 2: // The partner cancels the deposit while its payment page is open.
		meanwhile = cancel
	}
	s.submit(ctx, "agree", meanwhile)
	beside.Wait()
	if s.read().Status == active {
		s.claim(ctx)
	}
}

// ask repeats a partner's request about the deposit until an answer arrives. A conflict with the deposit's status
// is an answer.
func (s *stay) ask(action string, step byte, body string) world.APIResponse {
	call := world.APICall{APIKey: s.owner.Key, Path: "/deposits/" + id.Deposit.Of(s.deposit) + action,
		Key: s.load.key(s.number, step), Body: body}
	if body == "" {
		call.Method = http.MethodGet
	}
	return s.load.ask(s.load.ctx, s.number, call)
}

type moneyDeposit struct {
	Status     status
	Collection struct{ Status string }
}

// read returns the status of the deposit and of its collection in the API; empty at the end of the load.
func (s *stay) read() (d moneyDeposit) {
	_ = s.ask("", 0, "").DecodeData(&d)
	return d
}

// claim captures a part of the deposit and waits for its payment, which the tenant confirms where the card demands
// it.
func (s *stay) claim(ctx context.Context) {
	if a := s.ask("/capture", 2, fmt.Sprintf(`{"amount":%d,"reason":"damage"}`, 20+s.dice.IntN(400))); !a.OK() {
		s.unexpected(ctx, "the capture was answered %d %s", a.Status, a.Body)
		return
	}
	// This wait for the charge has no time limit, because each kill of a dispatcher delays payments by a minute.
	// settle limits the time after the last kill.
	for ; ctx.Err() == nil; _ = world.Sleep(ctx, 150*ms) {
		switch s.read().Collection.Status {
		case "paid":
			s.giveBack(ctx)
			return
		case "awaiting_tenant":
			s.submit(ctx, "intent", func() {})
		case "failed":
			s.unexpected(ctx, "nobody cancelled the collection, and it has failed")
			return
		}
	}
}

// giveBack refunds 10.00 of the charge of one stay in three, as staff do.
func (s *stay) giveBack(ctx context.Context) {
	if s.dice.IntN(3) != 0 {
		return
	}
	payment, err := value[id.ID](ctx, s.suite,
		`SELECT id FROM payments WHERE deposit_id = $1 AND kind = 'collection'`, s.deposit)
	if err == nil {
		_, err = procs.RunForOutput(ctx, procs.ProcessSpec{Name: "admin", Path: filepath.Join(s.dir, "admin"),
			Args: []string{"collection", "refund", "--id", id.Payment.Of(payment), "--amount", "10.00"},
			Env: append(s.environment(), "DATABASE_URL="+world.RewriteDatabaseURL(s.services.PostgresURL, service, "", service),
				"REDIS_URL="+s.services.RedisURL)})
	}
	if err != nil {
		s.unexpected(ctx, "a charge is not refunded: %v", err)
		return
	}
	s.refunds.Add(1)
}

// submit sends the checkout page's form with the given control until the page no longer has it. On the provider's
// payment page it runs meanwhile, pays, and ends.
func (s *stay) submit(ctx context.Context, control string, meanwhile func()) {
	const patience = 30 * time.Second
	values := map[string]string{"firstName": "Ada", "lastName": "Lovelace", "email": "ada@faults.test", "agree": "yes"}
	card := map[string]string{"cardNumber": "4242424242424242", "cardExpiry": "12/39", "cardCvc": "123"}
	b := formbrowser.New(patience, formbrowser.StubSiteTransport{Origin: "https://" + partnerHost,
		RoundTripper: formbrowser.RandomAddressTransport{RoundTripper: &http.Transport{DisableKeepAlives: true}}})
	var page formbrowser.Page
	var err error
	end := time.Now().Add(s.o.deadline)
	for try := uint64(0); time.Now().Before(end); try++ {
		page, err = b.Get(ctx, s.load.base(s.number+try)+"/checkout/"+s.token)
		if err == nil && page.Status == http.StatusOK {
			if _, open := page.Form(control); !open {
				return
			}
			page, err = b.Submit(ctx, page, control, values)
			if err == nil && strings.HasPrefix(page.URL.String(), s.fake.URL()) {
				meanwhile()
				// The page after the payment may belong to a process that was killed.
				_, _ = b.Submit(ctx, page, "cardNumber", card)
				return
			}
		}
		if world.Sleep(ctx, 100*ms) != nil {
			return
		}
	}
	s.unexpected(ctx, "the form with %s led nowhere: %v, %d %.2000s", control, err, page.Status, page.Body)
}

// unexpected records a violation of the stay, unless the run is ending.
func (s *stay) unexpected(ctx context.Context, format string, args ...any) {
	if ctx.Err() == nil && s.load.ctx.Err() == nil {
		s.receipts.violate("money", "stay %d, %s: "+format, append([]any{s.number, id.Deposit.Of(s.deposit)}, args...)...)
	}
}
