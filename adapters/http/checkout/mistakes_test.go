package checkout_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
)

// lastMatch gives the first group of the last match; "" for none.
func lastMatch(text, pattern string) string {
	all := regexp.MustCompile(pattern).FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return ""
	}
	return all[len(all)-1][1]
}

// errorsIn lists the form fields that a page marks as wrong, in the order of the page.
func errorsIn(body string) []string {
	var fields []string
	for _, found := range regexp.MustCompile(`<p class="error" id="(\w+)-error">`).FindAllStringSubmatch(body, -1) {
		fields = append(fields, found[1])
	}
	return fields
}

func TestCheckout_AllMistakes_AreNamedAtOnceInTheOrderOfTheFields(t *testing.T) {
	w := setup(t)
	d, token := w.CreateDeposit(t)
	b := w.browser()
	form := b.get(w.address(token))
	for _, c := range []struct {
		fields url.Values
		wrong  []string
		says   string // beside the first of them
	}{
		{url.Values{}, []string{"firstName", "lastName", "email", "agree"}, "Enter your first name"},
		{person("grace", "Grace", strings.Repeat("x", 101)), []string{"lastName", "email"}, "too long"},
		{person("grace", "\xff\xfe", "Hopper"), []string{"firstName", "email"}, "cannot read"},
		{person("grace", "Grace", "Hopper"), []string{"email"}, "Enter a valid e-mail"},
		{person("grace@example.com", "Grace", ""), []string{"lastName"}, "Enter your last name"},
		{url.Values{"firstName": {"Grace"}, "email": {"grace@example.com"}}, []string{"lastName", "agree"},
			"Enter your last name"},
		{url.Values{"firstName": {"Grace"}, "lastName": {"Hopper"}, "email": {"grace@example.com"}}, []string{"agree"}, ""},
	} {
		got := b.send(form, 0, c.fields)
		require.Equal(t, http.StatusUnprocessableEntity, got.status)
		require.Equal(t, c.wrong, errorsIn(got.body))
		require.Contains(t, got.body, c.says)
		require.Contains(t, got.body, "data-error-code=")
		summary, _, _ := strings.Cut(got.body[strings.Index(got.body, `role="alert"`):], "</div>")
		at := 0
		for _, field := range c.wrong {
			found := strings.Index(summary[at:], `href="#`+field+`"`)
			require.GreaterOrEqual(t, found, 0, "%s in the summary, in order", field)
			at += found
		}
		require.Equal(t, c.wrong[0], lastMatch(got.body, `<input[^>]* id="(\w+)"[^>]* autofocus`),
			"the first wrong field gets the focus")
		require.Equal(t, 1, strings.Count(got.body, " autofocus"))
		require.Equal(t, c.fields.Has("agree"), strings.Contains(got.body, " checked"), "a tick stays")
	}
	w.requireStatus(d, deposit.Pending, "")
	require.Zero(t, w.LoadDeposit(t, d.ID).CheckoutStartedAt)
}

func TestCheckout_PostgresAway_DoesNotBlameThePaymentProvider(t *testing.T) {
	w := setup(t)
	_, token := w.CreateDeposit(t)
	b := w.browser()
	form := b.get(w.address(token))
	w.Provider.SetUnreachable(true)
	require.Contains(t, b.send(form, 0, grace).body, "could not reach the payment service")
	w.Provider.SetUnreachable(false)
	w.Pool.Close()
	for name, sorry := range map[string]page{
		"page": b.get(w.address(token)), "form": b.send(form, 0, grace), "giving up": b.send(form, 1, nil),
		"way back": b.get(w.address(token) + "/return"),
	} {
		require.Equal(t, http.StatusServiceUnavailable, sorry.status, name)
		require.NotContains(t, sorry.body, "payment service", name)
		require.Contains(t, sorry.body, "Nothing is lost", name)
		require.Contains(t, sorry.body, "Try again", name)
	}
}
