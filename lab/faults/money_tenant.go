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

// stay is a deposit from its creation to the last payment, told by its number and the seed.
type stay struct {
	*moneyRun
	change
	dice  *rand.Rand
	token string // of the checkout
}

// newStay begins another stay of the first partner.
func newStay(r *moneyRun) *stay {
	number := uint64(r.next.Add(1)) //nolint:gosec // counts from 1
	return &stay{moneyRun: r, change: change{number: number, owner: r.partners[0]}, dice: r.load.dice(number)}
}

// partnerHost is the host of the partner's site, where tenants end who have paid.
const partnerHost = "partner.test"

// live takes the stay through its story, until it ends or ctx does. Answers that no caller of the service expects are
// violations.
func (s *stay) live(ctx context.Context) {
	a, ok := s.load.request(s.change, `,"depositUrlGeneration":true,"returnUrl":"https://`+partnerHost+`/back"`)
	var made struct{ ID, DepositURL string }
	if err := a.Into(&made); err != nil || !ok || !a.OK() {
		s.unexpected(ctx, "the deposit was not created: %v", err)
		return
	}
	s.deposit, _ = id.Deposit.Parse(made.ID)
	s.token = path.Base(made.DepositURL)
	later := stripetest.Outcome{DeclineCode: "insufficient_funds", AdviceCode: "try_again_later"}
	outcomes := [][]stripetest.Outcome{ // how the card behaves when the tenant is away
		nil, {later}, {later, later, later, later, later},
		{{DeclineCode: "lost_card", AdviceCode: "do_not_try_again"}},
	}
	s.fake.OffSession(id.Deposit.Of(s.deposit), outcomes[s.dice.IntN(len(outcomes))]...)
	cancel := func() { s.ask("/cancel", 1, `{}`) }
	meanwhile := func() {}
	var beside sync.WaitGroup
	switch s.dice.IntN(8) {
	case 0:
		beside.Go(cancel)
	case 1: // a second tab
		beside.Go(func() { s.submit(ctx, "agree", meanwhile) })
	case 2: // the tenant pays on a payment page that was open before the partner cancelled
		meanwhile = cancel
	}
	s.submit(ctx, "agree", meanwhile)
	beside.Wait()
	if s.read().Status == active {
		s.claim(ctx)
	}
}

// ask repeats a request of the partner until it is answered. A conflict with the deposit's status is an answer.
func (s *stay) ask(action string, step byte, body string) world.Answer {
	call := world.Call{APIKey: s.owner.Key, Path: "/deposits/" + id.Deposit.Of(s.deposit) + action,
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

// read gives the deposit, and the zero value at the end of the load.
func (s *stay) read() (d moneyDeposit) {
	_ = s.ask("", 0, "").Into(&d)
	return d
}

// claim captures a part of the deposit, and sees the collection to its end.
func (s *stay) claim(ctx context.Context) {
	if a := s.ask("/capture", 2, fmt.Sprintf(`{"amount":%d,"reason":"damage"}`, 20+s.dice.IntN(400))); !a.OK() {
		s.unexpected(ctx, "the capture was answered %d %s", a.Status, a.Body)
		return
	}
	// Each kill of a dispatcher delays the payments that the dispatcher held by a minute, and the run has many kills. So
	// this wait for the charge has no bound of its own: settle bounds the time between the last kill and the charge.
	for ; ctx.Err() == nil; _ = world.Pause(ctx, 150*ms) {
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

// giveBack has staff refund 10.00 of the stay's charge. Only one stay in three, by chance, has a refund.
func (s *stay) giveBack(ctx context.Context) {
	if s.dice.IntN(3) != 0 {
		return
	}
	payment, err := value[id.ID](ctx, s.suite,
		`SELECT id FROM payments WHERE deposit_id = $1 AND kind = 'collection'`, s.deposit)
	if err == nil {
		_, err = procs.Must(ctx, procs.Spec{Name: "admin", Path: filepath.Join(s.dir, "admin"),
			Args: []string{"collection", "refund", "--id", id.Payment.Of(payment), "--amount", "10.00"},
			Env: append(s.environment(), "DATABASE_URL="+world.At(s.services.PostgresURL, service, "", service),
				"REDIS_URL="+s.services.RedisURL)})
	}
	if err != nil {
		s.unexpected(ctx, "a charge is not refunded: %v", err)
		return
	}
	s.refunds.Add(1)
}

// submit sends the form of the checkout page that has the control, and sends it again until the page no longer has that
// form. If the answer is the provider's payment page, submit calls the function meanwhile, pays on that page, and ends.
func (s *stay) submit(ctx context.Context, control string, meanwhile func()) {
	const patience = 30 * time.Second
	values := map[string]string{"firstName": "Ada", "lastName": "Lovelace", "email": "ada@faults.test", "agree": "yes"}
	card := map[string]string{"cardNumber": "4242424242424242", "cardExpiry": "12/39", "cardCvc": "123"}
	b := formbrowser.New(patience, formbrowser.Site{Origin: "https://" + partnerHost,
		RoundTripper: formbrowser.Elsewhere{RoundTripper: &http.Transport{DisableKeepAlives: true}}})
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
				_, _ = b.Submit(ctx, page, "cardNumber", card) // the way back may lead to a process that is killed
				return
			}
		}
		if world.Pause(ctx, 100*ms) != nil {
			return
		}
	}
	s.unexpected(ctx, "the form with %s led nowhere: %v, %d %.2000s", control, err, page.Status, page.Body)
}

// unexpected records a violation, unless the run ends.
func (s *stay) unexpected(ctx context.Context, format string, args ...any) {
	if ctx.Err() == nil && s.load.ctx.Err() == nil {
		s.receipts.violate("money", "stay %d, %s: "+format, append([]any{s.number, id.Deposit.Of(s.deposit)}, args...)...)
	}
}
