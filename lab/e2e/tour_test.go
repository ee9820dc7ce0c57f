package e2e_test

import (
	"net/http"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/docstest"
	"partnerdeposits/lab/procs"
	"partnerdeposits/lab/rarely"
	"partnerdeposits/lab/stripetest"
)

// tour is the output up to the last line of the tour: a shell script.
func (s *sandbox) tour(t testing.TB) string {
	t.Helper()
	var script string
	require.Eventually(t, func() bool {
		before, _, whole := strings.Cut(s.output(), "# ── The same facts for scripts")
		script = before
		return whole
	}, soon, often)
	return script
}

// runTour pastes the printed tour into a shell, which ends at the first command that fails or is refused. meanwhile
// gets the growing output.
func runTour(t testing.TB, s *sandbox, meanwhile func(out *procs.OutputBuffer)) string {
	t.Helper()
	script := s.tour(t)
	require.NotContains(t, script, "\t", "a shell completes words at a tab")
	out := &procs.OutputBuffer{}
	bash := procs.Command(t.Context(), "bash", "-eu", "-o", "pipefail")
	bash.Stdin = strings.NewReader(`curl() { command curl --fail-with-body "$@"; }` + "\n" + script)
	bash.Stdout, bash.Stderr = out, out
	require.NoError(t, bash.Start())
	if meanwhile != nil {
		meanwhile(out)
	}
	require.NoError(t, bash.Wait(), out.String())
	require.NotContains(t, out.String(), `"error"`)
	return out.String()
}

// requireEveryStep asserts that the output has the proof of each of the tour's steps, but for those named by without.
func requireEveryStep(t testing.TB, out string, without ...string) {
	t.Helper()
	for _, proof := range []string{"303 → ", `"externalId":"operator-`, `"status":"pending"`, "/checkout/",
		`"activatedAt":"20`, `"status":"captured"`, `"status":"cancelled"`, `"test":true`, `"sequence":1}`, `"nextAfter":`} {
		require.Equal(t, !slices.Contains(without, proof), strings.Contains(out, proof), "%s in:\n%s", proof, out)
	}
}

// requirePagesOfTour opens every page that the head of the tour names, and asserts that they are those.
func requirePagesOfTour(t testing.TB, s *sandbox, want ...string) {
	t.Helper()
	var paths []string
	for _, line := range regexp.MustCompile(`(?m)^#   (?:pages|mails) .*`).FindAllString(s.tour(t), -1) {
		for _, page := range regexp.MustCompile(`http://\S+`).FindAllString(line, -1) {
			code, _ := fetch(page)
			require.Equal(t, http.StatusOK, code, page)
			paths = append(paths, strings.TrimPrefix(page, s.facts["dashboardBaseUrl"]))
		}
	}
	require.ElementsMatch(t, want, paths)
}

// adminEnviron returns the settings of the admin command that the head of the tour names.
func (s *sandbox) adminEnviron(t testing.TB) []string {
	t.Helper()
	environ := docstest.AdminSettingsOfTour(s.tour(t))
	require.GreaterOrEqual(t, len(environ), 2, "the database and Redis: %s", s.tour(t))
	return environ
}

// TestTour_WithTheFakeOfStripeAndAMailServer_EveryStepWorks: curl pays on the fake's page, and mails leave.
func TestTour_WithTheFakeOfStripeAndAMailServer_EveryStepWorks(t *testing.T) {
	t.Parallel()
	if !rarely.MustRun(t, rarely.DocumentTests) {
		return
	}
	server, mails := mailServer(t)
	s := startSandbox(t, "PAYMENTS_PROVIDER=stripe", mails, "MAIL_FROM=Deposits <no-reply@example.com>")
	requireEveryStep(t, runTour(t, s, nil))
	require.NotContains(t, s.tour(t), "simulate")
	requirePagesOfTour(t, s, "/dashboard", "/styleguide")
	require.Contains(t, s.tour(t), "#   mails    go out through the mail server of SMTP_URL, "+
		strings.TrimPrefix(mails, "SMTP_URL=smtp://")+"\n")
	linkTo(t, server, "olivia.", "/verify?")

	code, stdout, stderr := run(t, s.adminEnviron(t), "admin", "payments", "check")
	require.Zero(t, code, stdout+stderr)
	require.Contains(t, stdout, "make and end a page")
}

// TestTour_WithStripeItself_WaitsForThePayment: nobody but the tenant can pay on Stripe's page.
func TestTour_WithStripeItself_WaitsForThePayment(t *testing.T) {
	t.Parallel()
	if !rarely.MustRun(t, rarely.DocumentTests) {
		return
	}
	elsewhere := stripetest.Start(t, stripetest.Options{})
	s := startSandbox(t, append(stores(t), "PAYMENTS_PROVIDER=stripe", "STRIPE_SECRET_KEY="+stripeKey,
		"STRIPE_WEBHOOK_SECRET="+stripeSigning, "STRIPE_API_BASE="+elsewhere.URL())...)
	require.NotContains(t, s.tour(t), "simulate")
	out := runTour(t, s, func(out *procs.OutputBuffer) {
		checkout := ""
		require.Eventually(t, func() bool {
			checkout = regexp.MustCompile(`(?m)^http://\S+/checkout/\S+$`).FindString(out.String())
			return checkout != ""
		}, soon, often, "%s", out)
		b := newBrowser(t)
		require.Equal(t, "/thanks", payWith(b, openFee(t, b, checkout), "4242 4242 4242 4242").url.Path)
	})
	requireEveryStep(t, out)
}

func TestTour_WithoutPayments_LeavesOutItsSteps(t *testing.T) {
	t.Parallel()
	if !rarely.MustRun(t, rarely.DocumentTests) {
		return
	}
	s := startSandbox(t, append(stores(t), "PAYMENTS_PROVIDER=none")...)
	requireEveryStep(t, runTour(t, s, nil), `"activatedAt":"20`, `"status":"captured"`)
}
