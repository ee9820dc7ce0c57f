package stripe_test

import (
	"bytes"
	"context"
	"io"
	"maps"
	"net"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/money"
	"partnerdeposits/lab/procs"
	"partnerdeposits/lab/stripetest"
	paymentports "partnerdeposits/ports/payments"
)

const root = "../../.."

// calls are the requests that the adapter can send, by the expression of the path in its source. A path that is not
// here fails TestSchema_KnowsEveryCallOfTheAdapter; a request that no scenario sends fails
// TestSchema_TakesEveryRequestOfTheAdapter.
var calls = map[string][]string{
	`sessionsPath`:                           {"POST /v1/checkout/sessions", "GET /v1/checkout/sessions"},
	`sessionsPath + "/" + o.ref`:             {"GET /v1/checkout/sessions/{id}"},
	`sessionsPath + "/" + providerRef`:       {"GET /v1/checkout/sessions/{id}"},
	`sessionsPath + "/" + ref + "/expire"`:   {"POST /v1/checkout/sessions/{id}/expire"},
	`intentsPath`:                            {"POST /v1/payment_intents", "GET /v1/payment_intents"},
	`intentsPath + "/" + o.ref`:              {"GET /v1/payment_intents/{id}"},
	`intentsPath + "/" + providerRef`:        {"GET /v1/payment_intents/{id}"},
	`intentsPath + "/" + o.ref + "/confirm"`: {"POST /v1/payment_intents/{id}/confirm"},
	`intentsPath + "/" + ref + "/cancel"`:    {"POST /v1/payment_intents/{id}/cancel"},
	`chargesPath`:                            {"GET /v1/charges"},
	`chargesPath + "/" + no.charge`:          {"GET /v1/charges/{id}"},
	`chargesPath + "/" + providerRef`:        {"GET /v1/charges/{id}"},
	`refundsPath`:                            {"POST /v1/refunds", "GET /v1/refunds"},
	`refundsPath + "/" + row.ref`:            {"GET /v1/refunds/{id}"},
	`disputesPath`:                           {"GET /v1/disputes"},
	`customersPath + "/" + known.customer`:   {"DELETE /v1/customers/{id}"},
}

// sources reads the adapter's own files, without tests and broken variants.
func sources(t *testing.T) string {
	t.Helper()
	files, err := filepath.Glob("*.go")
	require.NoError(t, err)
	var all strings.Builder
	for _, file := range files {
		if !strings.HasSuffix(file, "_test.go") && !strings.HasSuffix(file, "_broken.go") {
			text, err := os.ReadFile(file)
			require.NoError(t, err)
			all.Write(text)
		}
	}
	return all.String()
}

func TestSchema_KnowsEveryCallOfTheAdapter(t *testing.T) {
	t.Parallel()
	source := sources(t)
	used := map[string]bool{}
	for _, m := range regexp.MustCompile(
		`(?:path: |\.get\(ctx, )([a-z]+Path[^,}\n]*)|send\.path, send\.key = "[a-z]+", ([a-zA-Z]+)`).FindAllStringSubmatch(
		source, -1) {
		used[strings.TrimSpace(m[1]+m[2])] = true
	}
	used[`intentsPath`] = true // send.path of make
	spaced := map[string]bool{}
	for path := range used {
		spaced[strings.ReplaceAll(strings.ReplaceAll(path, " ", ""), "+", " + ")] = true
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(calls)), slices.Collect(maps.Keys(spaced)))
	for _, word := range regexp.MustCompile(`"/v1/[^"]*"`).FindAllString(source, -1) {
		require.Contains(t, source, "Path  ", word)
	}
}

var anID = regexp.MustCompile(`/(cs_test|pi|ch|re|du|cus|pm)_[A-Za-z0-9]+`)

// scenario sends every request of the adapter to the fake.
func (b bench) scenario() {
	b.Helper()
	r := b.owing("4000000000000341")
	r.Attempt = 1
	b.collect(r)
	b.open(pageOf(r))
	r.Attempt = 2
	b.collect(r)
	b.close(r.PaymentID)
	refund := paymentports.RefundRequest{RefundID: newID(), PaymentID: r.FeePaymentID, DepositID: r.DepositID,
		Amount: money.Cents(100)}
	b.refund(refund)
	late := refund
	late.RefundID = newID()
	unmade := b.owing("4242424242424242")
	lost := feeRequest()
	for _, path := range []string{sessions, intents, "/v1/refunds"} {
		b.fake.FailNextRequests(stripetest.Fault{Kind: stripetest.FaultLostAfterEffect, Method: "POST", Path: path})
	}
	_, err := b.provider.OpenPage(b.ctx(), lost)
	require.Error(b, err)
	_, err = b.provider.ChargeStoredCard(b.ctx(), unmade)
	require.Error(b, err)
	_, err = b.provider.Refund(b.ctx(), late)
	require.Error(b, err)
	b.fake.AdvanceClock(25 * time.Hour)
	b.lookup(lost.PaymentID)
	b.collect(unmade)
	b.refund(late)
	for _, err := range b.provider.BookEntries(b.ctx(), b.fake.Now().Add(-48*time.Hour), b.fake.Now()) {
		require.NoError(b, err)
	}
	_, err = b.provider.Disputes(b.ctx(), r.FeePaymentID)
	require.NoError(b, err)
	for _, ref := range []string{"pi_none", "ch_none", "cs_test_none"} {
		_, err = b.provider.PaymentIDOf(b.ctx(), ref)
		require.NoError(b, err)
	}
	require.NoError(b, b.provider.EraseCustomer(b.ctx(), r.FeePaymentID))
	_, err = b.provider.CheckAccount(b.ctx())
	require.NoError(b, err)
	b.lookup(r.FeePaymentID)
}

func TestSchema_TakesEveryRequestOfTheAdapter(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.scenario()
	mock := stripeMock(t)
	sent := map[string]bool{}
	seen := map[string]bool{}
	for _, r := range b.fake.Requests() {
		template := r.Method + " " + anID.ReplaceAllString(r.Path, "/{id}")
		sent[template] = true
		form := template + " " + strings.Join(slices.Sorted(maps.Keys(r.Params)), ",")
		if seen[form] {
			continue
		}
		seen[form] = true
		target, body := "http://stripe-mock"+r.Path, r.Params.Encode()
		if r.Method != http.MethodPost {
			target, body = target+"?"+body, ""
		}
		request, err := http.NewRequestWithContext(t.Context(), r.Method, target, strings.NewReader(body))
		require.NoError(t, err)
		request.Header.Set("Authorization", "Bearer sk_test_123")
		request.Header.Set("Stripe-Version", r.Version)
		if r.Method == http.MethodPost {
			request.Header.Set("Content-Type", "application/x-www-form-urlencoded")
		}
		answer, err := mock.Do(request)
		require.NoError(t, err)
		text, err := io.ReadAll(answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		require.Equal(t, http.StatusOK, answer.StatusCode, "%s: %s", form, text)
	}
	want := map[string]bool{}
	for _, templates := range calls {
		for _, template := range templates {
			want[template] = true
		}
	}
	require.ElementsMatch(t, slices.Collect(maps.Keys(want)), slices.Collect(maps.Keys(sent)))
}

// stripeMock runs stripe-mock, which checks requests against the schema that Stripe publishes. It has no state, so it
// proves spelling alone.
func stripeMock(t *testing.T) *http.Client {
	t.Helper()
	out, err := procs.Command(t.Context(), root+"/scripts/tools.sh", "stripe-mock").CombinedOutput()
	require.NoError(t, err, string(out))
	folder, err := os.MkdirTemp("", "stripe-mock") // t.TempDir is too long for the address of a socket
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, os.RemoveAll(folder)) })
	socket := filepath.Join(folder, "s")
	var log bytes.Buffer
	ctx, cancel := context.WithCancel(context.Background())
	cmd := procs.Command(ctx, root+"/.local/bin/stripe-mock", "-http-unix", socket)
	cmd.Stdout, cmd.Stderr = &log, &log
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		cancel()
		_ = cmd.Wait() // killed
	})
	dial := func(ctx context.Context, _, _ string) (net.Conn, error) {
		return (&net.Dialer{}).DialContext(ctx, "unix", socket)
	}
	require.Eventually(t, func() bool {
		conn, err := dial(t.Context(), "", "")
		if err == nil {
			_ = conn.Close()
		}
		return err == nil
	}, 30*time.Second, 20*time.Millisecond, "stripe-mock does not listen")
	return &http.Client{Transport: &http.Transport{DialContext: dial, DisableKeepAlives: true}, Timeout: 10 * time.Second}
}
