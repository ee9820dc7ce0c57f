package webhook_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"time"

	"partnerdeposits/adapters/webhook"
	core "partnerdeposits/core/webhook"
	webhookports "partnerdeposits/ports/webhooks"
)

// An attempt has a result whatever happens: Post returns no error.
func ExampleSender() {
	status := http.StatusOK
	endpoint := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		fmt.Println("received", r.Header.Get(core.HeaderEvent))
		w.WriteHeader(status)
		_, _ = io.WriteString(w, "noted")
	}))
	defer endpoint.Close()
	sender := webhook.NewSender(webhook.Config{Timeout: 10 * time.Second, AllowInsecure: true, UserAgent: "example/1"})
	defer sender.Close()
	delivery := &webhookports.Delivery{URL: endpoint.URL, Event: core.DepositActivated, Secret: "svc_whsec_example",
		Body: []byte(`{"event":"deposit.activated"}`)}

	attempt := sender.Post(context.Background(), delivery, time.Now())
	fmt.Println(attempt.Result, attempt.ResponseStatus, attempt.Snippet)

	status = http.StatusInternalServerError
	attempt = sender.Post(context.Background(), delivery, time.Now())
	fmt.Println(attempt.Result, attempt.ResponseStatus, attempt.Detail)

	// Without AllowInsecure no private address is dialled, and no URL but https.
	strict := webhook.NewSender(webhook.Config{Timeout: 10 * time.Second, UserAgent: "example/1"})
	defer strict.Close()
	attempt = strict.Post(context.Background(), delivery, time.Now())
	fmt.Println(attempt.Result, attempt.Detail)
	// Output:
	// received deposit.activated
	// success 200 noted
	// received deposit.activated
	// non_2xx 500 The endpoint answered 500 Internal Server Error.
	// blocked The URL is not https.
}
