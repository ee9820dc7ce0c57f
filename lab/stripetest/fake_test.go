package stripetest_test

import (
	"context"
	"encoding/json"
	"io"
	"net/http"
	"net/http/httptest"
	"net/url"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/formbrowser"
	"partnerdeposits/lab/stripetest"
)

// answer is an answer of the fake.
type answer struct {
	status   int
	replayed bool
	body     map[string]any
}

func (a answer) text(t *testing.T, name string) string {
	t.Helper()
	text, ok := a.body[name].(string)
	require.True(t, ok, "%v", a.body)
	return text
}

func (a answer) code() string {
	inner, _ := a.body["error"].(map[string]any)
	code, _ := inner["code"].(string)
	return code
}

func call(t *testing.T, f *stripetest.Fake, method, path, key string, params url.Values) (a answer) {
	t.Helper()
	target, body := f.URL()+path, params.Encode()
	if method != http.MethodPost {
		target, body = target+"?"+body, ""
	}
	r, err := http.NewRequestWithContext(t.Context(), method, target, strings.NewReader(body))
	require.NoError(t, err)
	r.Header.Set("Content-Type", "application/x-www-form-urlencoded")
	if key != "" {
		r.Header.Set("Idempotency-Key", key)
	}
	res, err := (&http.Client{Transport: &http.Transport{DisableKeepAlives: true}}).Do(r)
	if err != nil {
		return answer{}
	}
	text, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.NoError(t, json.Unmarshal(text, &a.body))
	a.status, a.replayed = res.StatusCode, res.Header.Get("Idempotent-Replayed") == "true"
	return a
}

func intentOf(payment string) url.Values {
	return url.Values{"amount": {"500"}, "currency": {"eur"}, "metadata[payment_id]": {payment},
		"metadata[deposit_id]": {"dep_1"}}
}

func pageOf(payment string) url.Values {
	return url.Values{
		"mode": {"payment"}, "success_url": {"https://a.example/back"}, "cancel_url": {"https://a.example/back"},
		"line_items[0][quantity]":             {"1"},
		"line_items[0][price_data][currency]": {"eur"}, "line_items[0][price_data][unit_amount]": {"1750"},
		"line_items[0][price_data][product_data][name]": {"D-1"}, "metadata[payment_id]": {payment},
		"payment_intent_data[metadata][payment_id]": {payment}, "payment_intent_data[setup_future_usage]": {"off_session"},
		"customer_creation": {"always"},
	}
}

const (
	intents  = "/v1/payment_intents"
	sessions = "/v1/checkout/sessions"
)

func TestKeys_AnswerIsReplayedForADay(t *testing.T) {
	t.Parallel()
	f := stripetest.StartExpectingViolations(t, stripetest.Options{})
	first := call(t, f, "POST", intents, "k", intentOf("pay_1"))
	again := call(t, f, "POST", intents, "k", intentOf("pay_1"))
	require.True(t, again.replayed)
	require.Equal(t, first.body, again.body)
	require.Equal(t, 400, call(t, f, "POST", intents, "k", intentOf("pay_2")).status, "other parameters")
	require.Equal(t, 400, call(t, f, "POST", sessions, "k", intentOf("pay_1")).status, "another endpoint")
	require.Empty(t, f.Violations())
	f.AdvanceClock(25 * time.Hour)
	require.NotEqual(t, first.body["id"], call(t, f, "POST", intents, "k", intentOf("pay_1")).body["id"])
	require.Len(t, f.Violations(), 1, "two intents of a payment can be confirmed")
}

func TestKeys_A500IsReplayed_A400IsNot(t *testing.T) {
	t.Parallel()
	f := stripetest.Start(t, stripetest.Options{})
	f.FailNextRequests(stripetest.Fault{Kind: stripetest.FaultErrorWithoutEffect})
	for range 2 {
		require.Equal(t, 500, call(t, f, "POST", intents, "broken", intentOf("pay_1")).status)
	}
	wrong := intentOf("pay_2")
	wrong.Set("amount", "0")
	require.Equal(t, 400, call(t, f, "POST", intents, "wrong", wrong).status)
	require.Equal(t, 200, call(t, f, "POST", intents, "wrong", intentOf("pay_2")).status)
}

func TestKeys_InFlight_IsAConflict(t *testing.T) {
	t.Parallel()
	f := stripetest.Start(t, stripetest.Options{})
	f.FailNextRequests(stripetest.Fault{Kind: stripetest.FaultDelayedResponse, Delay: 300 * time.Millisecond})
	var wg sync.WaitGroup
	var statuses [2]int
	for i := range statuses {
		wg.Go(func() { statuses[i] = call(t, f, "POST", intents, "k", intentOf("pay_1")).status })
	}
	wg.Wait()
	require.ElementsMatch(t, []int{200, 409}, statuses[:])
}

func TestFaults_LostAnswersHaveAnEffectOrNone(t *testing.T) {
	t.Parallel()
	f := stripetest.Start(t, stripetest.Options{})
	for kind, want := range map[stripetest.FaultKind]bool{stripetest.FaultLostAfterEffect: true,
		stripetest.FaultLostBeforeEffect: false} {
		f.FailNextRequests(stripetest.Fault{Kind: kind, Path: intents})
		require.Zero(t, call(t, f, "POST", intents, string(kind), intentOf("pay_"+string(kind))).status)
		require.Equal(t, want, call(t, f, "POST", intents, string(kind), intentOf("pay_"+string(kind))).replayed, kind)
	}
}

func TestSessions_LiveBetweenHalfAnHourAndADay(t *testing.T) {
	t.Parallel()
	f := stripetest.Start(t, stripetest.Options{})
	for life, want := range map[time.Duration]int{20 * time.Minute: 400, 31 * time.Minute: 200, 23 * time.Hour: 200,
		25 * time.Hour: 400} {
		p := pageOf("pay_" + life.String())
		p.Set("expires_at", jsonNumber(f.Now().Add(life).Unix()))
		require.Equal(t, want, call(t, f, "POST", sessions, "", p).status, life)
	}
	made := call(t, f, "POST", sessions, "", pageOf("pay_1"))
	f.AdvanceClock(25 * time.Hour)
	require.Equal(t, "expired", call(t, f, "GET", sessions+"/"+made.text(t, "id"), "", nil).body["status"])
	require.Equal(t, 400, call(t, f, "POST", sessions+"/"+made.text(t, "id")+"/expire", "", nil).status)
}

func jsonNumber(n int64) string { b, _ := json.Marshal(n); return string(b) }

func TestPage_CardsBehaveAsPublished(t *testing.T) {
	t.Parallel()
	f := stripetest.Start(t, stripetest.Options{})
	for number, want := range map[string]string{
		"4242 4242 4242 4242": "complete", "4000002500003155": "complete", "4000002760003184": "complete",
		"4000000000000341": "complete", "4000000000000259": "complete", "4000008260003178": "open",
		"4000000000009995": "open",
		"4000000000000002": "open", "4111111111111111": "open",
	} {
		made := call(t, f, "POST", sessions, "", pageOf("pay_"+number))
		shown := f.PayOnPaymentPage(t, made.text(t, "url"), number)
		require.Equal(t, want, call(t, f, "GET", sessions+"/"+made.text(t, "id"), "", nil).body["status"], number)
		if want == "open" {
			require.Equal(t, http.StatusPaymentRequired, shown.Status)
			require.Contains(t, shown.Body, `role="alert"`)
			require.Equal(t, http.StatusSeeOther, f.PayOnPaymentPage(t, made.text(t, "url"), "4242424242424242").Status,
				"another card pays")
		}
		require.NotContains(t, shown.Body, strings.ReplaceAll(number, " ", ""), "card data is dropped")
	}
}

func TestPage_AuthenticationThatFails_LeavesThePageOpen(t *testing.T) {
	t.Parallel()
	f := stripetest.Start(t, stripetest.Options{})
	page := call(t, f, "POST", sessions, "", pageOf("pay_1")).text(t, "url")
	typed := f.PostForm(t, page, url.Values{"cardNumber": {"4000002760003184"}, "cardExpiry": {"12/34"},
		"cardCvc": {"123"}})
	require.Equal(t, http.StatusSeeOther, typed.Status)
	failed := f.PostForm(t, f.URL()+typed.Location, url.Values{"outcome": {"fail"}})
	require.Equal(t, http.StatusPaymentRequired, failed.Status)
	require.Contains(t, failed.Body, "unable to authenticate")
	require.Equal(t, "https://a.example/back", f.PayOnPaymentPage(t, page, "4242424242424242").Location)
}

// TestPage_AfterAFailedAuthentication_ItsOwnFormPays: the form that the failure shows stands at another address than
// the form of the first card.
func TestPage_AfterAFailedAuthentication_ItsOwnFormPays(t *testing.T) {
	t.Parallel()
	f := stripetest.Start(t, stripetest.Options{})
	b := formbrowser.New(time.Minute,
		formbrowser.StubSiteTransport{RoundTripper: &http.Transport{DisableKeepAlives: true}, Origin: "https://a.example"})
	shown, err := b.Get(t.Context(), call(t, f, "POST", sessions, "", pageOf("pay_1")).text(t, "url"))
	require.NoError(t, err)
	submit := func(control string, values map[string]string) {
		t.Helper()
		shown, err = b.Submit(t.Context(), shown, control, values)
		require.NoError(t, err)
	}
	card := func(number string) {
		t.Helper()
		submit("cardNumber", map[string]string{"cardNumber": number, "cardExpiry": "12/34", "cardCvc": "123"})
	}
	card("4000002760003184")
	submit("outcome", map[string]string{"outcome": "fail"})
	require.Contains(t, string(shown.Body), "unable to authenticate")
	card("4000000000000002")
	require.Contains(t, string(shown.Body), "Your card was declined")
	card("4242424242424242")
	require.Equal(t, "https://a.example/back", shown.URL.String())
}

func TestConfirm_RulesOfChargesWithoutTheTenant(t *testing.T) {
	t.Parallel()
	f := stripetest.Start(t, stripetest.Options{})
	made := call(t, f, "POST", intents, "", intentOf("pay_1")).text(t, "id")
	require.Equal(t, 404, call(t, f, "POST", intents+"/"+made+"/confirm", "", url.Values{"off_session": {"true"}}).status,
		"no card")
	require.Equal(t, 200, call(t, f, "POST", intents+"/"+made+"/cancel", "", nil).status)
	require.Equal(t, "payment_intent_unexpected_state", call(t, f, "POST", intents+"/"+made+"/cancel", "", nil).code())

	unsaved := pageOf("pay_3")
	unsaved.Del("customer_creation")
	f.PayOnPaymentPage(t, call(t, f, "POST", sessions, "", unsaved).text(t, "url"), "4242424242424242")
	list := call(t, f, "GET", intents, "", url.Values{"limit": {"1"}})
	newest, ok := list.body["data"].([]any)[0].(map[string]any)
	require.True(t, ok)
	require.Nil(t, newest["customer"], "without a customer no card is saved")
}

func TestLists_GoOnAfterAnObject(t *testing.T) {
	t.Parallel()
	f := stripetest.Start(t, stripetest.Options{})
	for _, name := range []string{"a", "b", "c"} {
		call(t, f, "POST", intents, "", intentOf("pay_"+name))
	}
	first := call(t, f, "GET", intents, "", url.Values{"limit": {"2"}})
	require.Equal(t, true, first.body["has_more"])
	data, ok := first.body["data"].([]any)
	require.True(t, ok)
	last, ok := data[1].(map[string]any)["id"].(string)
	require.True(t, ok)
	rest := call(t, f, "GET", intents, "", url.Values{"limit": {"2"}, "starting_after": {last}})
	require.Len(t, rest.body["data"], 1)
	require.Equal(t, false, rest.body["has_more"])
	require.Empty(t,
		call(t, f, "GET", intents, "", url.Values{"created[gte]": {jsonNumber(f.Now().Add(time.Hour).Unix())}}).body["data"])
}

func TestWebhooks_AreSentTwiceAndReversedWhenTold(t *testing.T) {
	t.Parallel()
	got := make(chan string, 100)
	receiver := httptest.NewServer(http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) {
		var e struct{ Type string }
		if json.NewDecoder(r.Body).Decode(&e) == nil && strings.HasPrefix(r.Header.Get("Stripe-Signature"), "t=") {
			got <- e.Type
		}
	}))
	t.Cleanup(receiver.Close)
	f := stripetest.Start(t, stripetest.Options{Webhooks: receiver.URL})
	f.SetDeliveryPlan(stripetest.DeliveryPlan{Twice: true, Reversed: true, Delay: 200 * time.Millisecond})
	made := call(t, f, "POST", intents, "", intentOf("pay_1")).text(t, "id")
	call(t, f, "POST", intents+"/"+made+"/cancel", "", nil)
	var types []string
	ctx, cancel := context.WithTimeout(t.Context(), 10*time.Second)
	defer cancel()
	for len(types) < 4 {
		select {
		case kind := <-got:
			types = append(types, kind)
		case <-ctx.Done():
			require.Fail(t, "webhooks are missing", "%v", types)
		}
	}
	require.Equal(t, []string{"payment_intent.canceled", "payment_intent.canceled", "payment_intent.created",
		"payment_intent.created"}, types)
}
