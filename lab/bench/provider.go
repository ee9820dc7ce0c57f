package main

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"time"

	"partnerdeposits/adapters/system"
	"partnerdeposits/lab/formbrowser"
	"partnerdeposits/lab/load"
	"partnerdeposits/lab/stripetest"
)

const (
	apiPace    = 100 // calls of the API a second
	tenantPace = 5   // tenants a second who send the form of checkout
)

// measureProvider alternates rounds beside a payment provider that answers and a provider that hangs, while tenants
// send the form of checkout. Then many tenants pay during an outage, and the time from the provider's return until all
// are settled is taken.
func measureProvider(ctx context.Context, w *workbench, o options, r *results) {
	listener := must((&net.ListenConfig{}).Listen(ctx, "tcp4", "127.0.0.1:0"))
	serving, end := context.WithCancel(ctx)
	defer end()
	fake := stripetest.New(stripetest.Options{URL: "http://" + listener.Addr().String()})
	go func() { _ = fake.Serve(serving, listener) }() // ends with the step
	stripe := []string{
		"PAYMENTS_PROVIDER=stripe", "STRIPE_SECRET_KEY=" + stripetest.SecretKey,
		"STRIPE_WEBHOOK_SECRET=" + stripetest.WebhookSecret,
		"STRIPE_API_BASE=" + fake.URL(), "TRUSTED_PROXIES=127.0.0.1",
	}
	w.settings = map[string][]string{"http": stripe, "dispatcher": stripe}
	defer func() { w.settings = nil }()
	b, answers, hangs := r.board("beside a provider"), "that answers", "that hangs"
	beside := func(label string, bad bool) turn {
		return func() {
			hang(fake, bad, "")
			b.add(label, w.providerRound(ctx, o.isolation, bad))
		}
	}
	check(rotate(o.rounds, []turn{beside(answers, false), beside(hangs, true)}))
	r.addRatio("provider API", b.ratio(hangs, answers, "p99 ms"))
	r.addRatio("provider delivery", b.ratio(hangs, answers, "log p99 ms"))
	hang(fake, false, "")
	settled := w.payInAnOutage(ctx, fake, o.payments).Round(time.Second)
	fmt.Printf("%d payments made in an outage of an hour: settled %v after the provider's return\n", o.payments, settled)
	r.add("settled", settled.Seconds(), settled.String(), o.payments)
}

// hang lets requests with that method hang, or all of them, or none.
func hang(fake *stripetest.Fake, hangs bool, method string) {
	if !hangs {
		fake.FailBy(nil)
		return
	}
	fake.FailBy(func(m, _ string) *stripetest.Fault {
		if method == "" || m == method {
			return &stripetest.Fault{Kind: stripetest.Hang}
		}
		return nil
	})
}

// newcomer is a partner of new processes, which have not learnt yet that the provider was away.
func (w *workbench) newcomer(ctx context.Context) testPartner {
	w.enter(ctx, w.site)
	return w.newPartner(ctx, w.sink+"/")
}

// providerRound calls the API at a steady rate while tenants send forms. It gives the p99 of the answers of the API, of
// the deliveries, and of the pages that tenants see.
func (w *workbench) providerRound(ctx context.Context, length time.Duration, hangs bool) figures {
	t := w.newcomer(ctx)
	n := int(length.Seconds()) * apiPace
	all := w.deposits(ctx, calls(n), 8, true, func(int) *testPartner { return &t })
	tenants, stop := context.WithCancel(ctx)
	defer stop()
	forms, wrong := load.NewTimes(), make(chan error, 1)
	go func() { wrong <- w.sendForms(tenants, t, hangs, forms) }()
	since := system.Clock{}.Now()
	p := w.cancelPaced(ctx, all, apiPace, true, w.taken()+n)
	stop()
	check(<-wrong)
	f := p.spent.figures().withLatency(p.answers, p.late)
	f["page p99 ms"] = forms.Percentile(99)
	w.addLogged(ctx, f, since, n, t)
	return f
}

// sendForms lets tenants send the form of checkout until ctx ends. With hangs, a page that says so is the answer;
// otherwise the provider's page.
func (w *workbench) sendForms(ctx context.Context, t testPartner, hangs bool, times *load.Times) error {
	want := http.StatusOK
	if hangs {
		want = http.StatusServiceUnavailable
	}
	_, _, err := load.Open(ctx, load.Endless, tenantPace, func(int, time.Time) error {
		took, page, err := w.sendForm(context.WithoutCancel(ctx), t)
		times.Add(took)
		if err == nil && page.Status != want {
			err = fmt.Errorf("a tenant's form was answered %d", page.Status)
		}
		return err
	})
	return err
}

// toTenants are the connections of the tenants' browsers.
var toTenants = &http.Transport{MaxIdleConnsPerHost: 16, IdleConnTimeout: 10 * time.Second}

// sendForm creates a deposit, sends the form of its checkout, and gives the page that follows.
func (w *workbench) sendForm(ctx context.Context,
	t testPartner) (took time.Duration, page formbrowser.Page, err error) {
	const more = `,"depositUrlGeneration":true,"returnUrl":"https://partner.test/back"`
	body := t.depositBody(0, time.Now().AddDate(0, 0, 2), more) // its checkout takes a payment
	answer, err := w.api.do(request{method: "POST", path: "/deposits", apiKey: t.Key, body: body})
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
	tenant := map[string]string{"firstName": "Ada", "lastName": "Lovelace", "email": "ada@example.com", "agree": "yes"}
	page, err = b.Submit(ctx, page, "agree", tenant)
	return time.Since(began), page, err
}

// afterAnHour gives payments the state that an outage of an hour leaves behind: each became due meanwhile, and stays
// due.
const afterAnHour = `UPDATE payments SET check_at = now() - random() * interval '1 hour' WHERE status = 'processing'`

// payInAnOutage lets n tenants pay while the provider answers no question, and gives the time from its return until all
// fees are settled.
func (w *workbench) payInAnOutage(ctx context.Context, fake *stripetest.Fake, n int) time.Duration {
	t, began := w.newcomer(ctx), time.Now()
	hang(fake, true, http.MethodGet)
	pages := make([]formbrowser.Page, n)
	must(load.Closed(ctx, calls(n), 8, func(i int) (err error) {
		if _, pages[i], err = w.sendForm(ctx, t); err == nil && pages[i].Status != http.StatusOK {
			err = fmt.Errorf("a tenant's form was answered %d", pages[i].Status)
		}
		return err
	}))
	hang(fake, true, "")
	tenants := formbrowser.New(time.Minute, formbrowser.Site{RoundTripper: toTenants, Origin: w.http.Base})
	card := map[string]string{"cardNumber": "4242424242424242", "cardExpiry": "12/39", "cardCvc": "123"}
	must(load.Closed(ctx, calls(n), 8, func(i int) error {
		_, err := tenants.Submit(ctx, pages[i], "cardNumber", card)
		return err
	}))
	must(w.Pool.Exec(ctx, afterAnHour))
	hang(fake, false, "")
	returned, left := time.Now(), 0
	err := poll(ctx, 10*time.Minute, time.Second, func() bool {
		check(w.Pool.QueryRow(ctx,
			`SELECT count(*) FROM payments WHERE status = 'processing' AND kind = 'fee' AND created_at >= $1`,
			began).Scan(&left))
		return left == 0
	})
	if err != nil {
		check(fmt.Errorf("%d of %d payments are not settled: %w", left, n, err))
	}
	return time.Since(returned)
}
