package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"sync"
	"time"

	"partnerdeposits/adapters/system"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/formbrowser"
	"partnerdeposits/lab/stripetest"
)

// provider is the effect of a payment provider that hangs, and the recovery after its return.
type provider struct {
	api, delivery versus // p99 in ms: beside a provider that answers, and beside a provider that hangs
	page          versus // p99 in ms of the answer to a tenant's form
	settled       time.Duration
	payments      int
}

const (
	apiPace    = 100 // calls of the API a second
	tenantPace = 5   // tenants a second who send the form of checkout
)

// measureProvider alternates rounds beside a payment provider that answers and a provider that hangs, while tenants send the form of
// checkout. Then many tenants pay during an outage, and the time from the provider's return until all are settled is taken.
func measureProvider(ctx context.Context, w *world, o options, r *results) error {
	listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp4", "127.0.0.1:0")
	if err != nil {
		return err
	}
	serving, end := context.WithCancel(ctx)
	defer end()
	fake := stripetest.New(stripetest.Options{URL: "http://" + listener.Addr().String()})
	go func() { _ = fake.Serve(serving, listener) }() // ends with the step
	w.provider = []string{"PAYMENTS_PROVIDER=stripe", "STRIPE_SECRET_KEY=" + stripetest.SecretKey, "STRIPE_WEBHOOK_SECRET=" + stripetest.WebhookSecret, "STRIPE_API_BASE=" + fake.URL(), "TRUSTED_PROXIES=127.0.0.1"}
	defer func() { w.provider = nil }()
	found := &provider{payments: o.payments}
	labels := [2]string{"provider answers", "provider hangs  "}
	for round := range 2 * o.rounds {
		bad := round%2 == 1
		hang(fake, bad, "")
		if err := w.providerRound(ctx, o.isolation, bad, found); err != nil {
			return err
		}
		last := func(v versus) float64 { s := v[which(bad)]; return s[len(s)-1] }
		fmt.Printf("%s: p99 of the API %.1f ms, of a delivery %.1f ms, of a tenant's form %.0f ms\n", labels[which(bad)], last(found.api), last(found.delivery), last(found.page))
	}
	fmt.Printf("hangs ÷ answers: p99 of the API %.2f, of a delivery %.2f\n", found.api.ratio(), found.delivery.ratio())
	hang(fake, false, "")
	if found.settled, err = w.payInAnOutage(ctx, fake, o.payments); err != nil {
		return err
	}
	fmt.Printf("%d payments made in an outage of an hour: settled %v after the provider's return\n", o.payments, found.settled.Round(time.Second))
	r.provider = found
	return nil
}

// hang lets requests with that method hang, or all of them, or none.
func hang(fake *stripetest.Fake, hangs bool, method string) {
	if !hangs {
		fake.FailBy(nil)
		return
	}
	fake.FailBy(func(m, _ string) *stripetest.Fault {
		if method != "" && m != method {
			return nil
		}
		return &stripetest.Fault{Kind: stripetest.Hang}
	})
}

// newcomer is a partner of new processes, which have not learnt yet that the provider was away.
func (w *world) newcomer(ctx context.Context) (t testPartner, err error) {
	if err = w.enter(ctx, w.site); err == nil {
		t, err = w.newPartner(ctx, w.sink+"/")
	}
	return t, err
}

// providerRound calls the API at a steady rate while tenants send forms, and takes the time of each answer and each delivery.
func (w *world) providerRound(ctx context.Context, length time.Duration, hangs bool, found *provider) error {
	t, err := w.newcomer(ctx)
	if err != nil {
		return err
	}
	n := int(length.Seconds()) * apiPace
	ids, err := w.deposits(ctx, calls(n), 8, true, func(int) *testPartner { return &t })
	if err != nil {
		return err
	}
	tenants, stop := context.WithCancel(ctx)
	defer stop()
	var group sync.WaitGroup
	var pages sample
	var wrong error
	group.Go(func() { pages, wrong = w.sendForms(tenants, t, hangs) })
	took, since := w.taken(), system.Clock{}.Now()
	answers := make(sample, n)
	_, err = w.paced(ctx, n, apiPace, func(c *caller, i int) error {
		began := time.Now()
		err := c.cancel(ids[i], true)
		answers[i] = time.Since(began).Seconds() * 1000
		return err
	})
	stop()
	group.Wait()
	if err = errors.Join(err, wrong, w.awaitTaken(ctx, took, n, 2*time.Minute)); err != nil {
		return err
	}
	delivered, err := w.latency(ctx, since, n, t)
	if err != nil {
		return err
	}
	found.api.add(hangs, answers.percentile(99))
	found.delivery.add(hangs, delivered.p99)
	found.page.add(hangs, pages.percentile(99))
	return nil
}

// sendForms lets tenants send the form of checkout until ctx ends, and gives the times of the answers in ms. With hangs, a page that
// says so is the answer; otherwise the provider's page.
func (w *world) sendForms(ctx context.Context, t testPartner, hangs bool) (ms sample, wrong error) {
	var mu sync.Mutex
	var group sync.WaitGroup
	ticker := time.NewTicker(time.Second / tenantPace)
	defer ticker.Stop()
	for {
		select {
		case <-ctx.Done():
			group.Wait()
			return ms, wrong
		case <-ticker.C:
		}
		group.Go(func() {
			took, page, err := w.sendForm(context.WithoutCancel(ctx), t)
			want := http.StatusOK
			if hangs {
				want = http.StatusServiceUnavailable
			}
			if err == nil && page.Status != want {
				err = fmt.Errorf("a tenant's form was answered %d", page.Status)
			}
			mu.Lock()
			defer mu.Unlock()
			wrong = errors.Join(wrong, err)
			ms = append(ms, took.Seconds()*1000)
		})
	}
}

// toTenants are the connections of the tenants' browsers.
var toTenants = &http.Transport{MaxIdleConnsPerHost: 16, IdleConnTimeout: 10 * time.Second}

// sendForm creates a deposit, sends the form of its checkout, and gives the page that follows.
func (w *world) sendForm(ctx context.Context, t testPartner) (took time.Duration, page formbrowser.Page, err error) {
	c := newCaller(w.api)
	defer c.close()
	answer, err := c.do(request{method: "POST", path: "/deposits", apiKey: t.key, body: t.comingStay()})
	if err != nil {
		return 0, page, err
	}
	var made struct{ Data struct{ DepositURL string } }
	if err := json.Unmarshal(answer, &made); err != nil {
		return 0, page, err
	}
	b := formbrowser.New(time.Minute, formbrowser.Elsewhere{RoundTripper: toTenants})
	if page, err = b.Get(ctx, made.Data.DepositURL); err != nil {
		return 0, page, err
	}
	began := time.Now()
	page, err = b.Submit(ctx, page, "agree", map[string]string{"firstName": "Ada", "lastName": "Lovelace", "email": "ada@example.com", "agree": "yes"})
	return time.Since(began), page, err
}

// cameBack answers in place of our pages: tenants close the browser once they have paid.
type cameBack struct {
	http.RoundTripper
	ours string
}

func (b cameBack) RoundTrip(r *http.Request) (*http.Response, error) {
	if strings.HasPrefix(r.URL.String(), b.ours) {
		return &http.Response{StatusCode: http.StatusNoContent, Body: http.NoBody, Request: r}, nil
	}
	return b.RoundTripper.RoundTrip(r)
}

// comingStay is the body of a deposit whose checkout takes a payment.
func (t *testPartner) comingStay() string {
	const days = 24 * time.Hour
	from := time.Now().Add(2 * days).UTC()
	return fmt.Sprintf(`{"accountId":%q,"amount":500,"contractStartAt":%q,"contractEndAt":%q,"rentalContract":"B","depositUrlGeneration":true,"returnUrl":"https://partner.test/back"}`,
		id.Account.Of(t.account), from.Format(time.RFC3339), from.Add(7*days).Format(time.RFC3339))
}

// afterAnHour gives payments the state that an outage of an hour leaves behind: each became due meanwhile, and stays due.
const afterAnHour = `UPDATE payments SET check_at = now() - random() * interval '1 hour' WHERE status = 'processing'`

// payInAnOutage lets n tenants pay while the provider answers no question, and gives the time from its return until all fees are settled.
func (w *world) payInAnOutage(ctx context.Context, fake *stripetest.Fake, n int) (time.Duration, error) {
	t, err := w.newcomer(ctx)
	if err != nil {
		return 0, err
	}
	began := time.Now()
	hang(fake, true, http.MethodGet)
	pages := make([]formbrowser.Page, n)
	_, err = w.each(ctx, calls(n), 8, func(_ *caller, i int) (err error) {
		if _, pages[i], err = w.sendForm(ctx, t); err == nil && pages[i].Status != http.StatusOK {
			err = fmt.Errorf("a tenant's form was answered %d", pages[i].Status)
		}
		return err
	})
	if err != nil {
		return 0, err
	}
	hang(fake, true, "")
	tenants := formbrowser.New(time.Minute, cameBack{toTenants, w.api})
	_, err = w.each(ctx, calls(n), 8, func(_ *caller, i int) error {
		_, err := tenants.Submit(ctx, pages[i], "cardNumber", map[string]string{"cardNumber": "4242424242424242", "cardExpiry": "12/39", "cardCvc": "123"})
		return err
	})
	if err != nil {
		return 0, err
	}
	if _, err := w.pool.Exec(ctx, afterAnHour); err != nil {
		return 0, err
	}
	hang(fake, false, "")
	returned := time.Now()
	ticker := time.NewTicker(time.Second)
	defer ticker.Stop()
	for {
		var left int
		if err := w.pool.QueryRow(ctx, `SELECT count(*) FROM payments WHERE status = 'processing' AND kind = 'fee' AND created_at >= $1`, began).Scan(&left); err != nil || left == 0 {
			return time.Since(returned), err
		}
		const patience = 10 * time.Minute
		if time.Since(returned) > patience {
			return 0, fmt.Errorf("%d of %d payments are not settled after %v", left, n, patience)
		}
		select {
		case <-ctx.Done():
			return 0, ctx.Err()
		case <-ticker.C:
		}
	}
}
