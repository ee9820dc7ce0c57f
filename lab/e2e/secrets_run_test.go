package e2e_test

import (
	"encoding/base64"
	"net/http"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/secret"
	"partnerdeposits/lab/receiver"
	"partnerdeposits/lab/stripetest"
	"partnerdeposits/process/config"
)

// byFile writes each secret of an environment to a file of its own, and gives the environment that names the files,
// with the names of the secrets in order.
func byFile(t testing.TB, environ []string) (files, names []string) {
	t.Helper()
	dir, isSecret := t.TempDir(), map[string]bool{}
	for field := range reflect.TypeFor[config.Config]().Fields() {
		isSecret[field.Tag.Get("env")] = field.Type == reflect.TypeFor[secret.Text]()
	}
	for _, pair := range environ {
		name, value, _ := strings.Cut(pair, "=")
		if !isSecret[name] {
			files = append(files, pair)
			continue
		}
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(value+"\n"), 0o400))
		files, names = append(files, name+"_FILE="+path), append(names, name)
		delete(isSecret, name)
	}
	for name, left := range isSecret {
		require.False(t, left, "the environment has no %s", name)
	}
	slices.Sort(names)
	return files, names
}

// partner sends requests to the partner API. Some of the requests are wrong, so that the log has errors too.
func (r *secretRun) partner(t *testing.T, accountID string) (depositID string) {
	t.Helper()
	hook := newReceiver(t)
	hook.URL += "?token=a-secret-in-the-query"
	r.secrets.add(t, "query of a subscription", "a-secret-in-the-query")
	webhookID := r.subscribe(t, hook)
	r.secrets.add(t, "webhook secret", hook.Secret())
	var rotated struct{ Data struct{ Secret string } }
	r.api(t).post("/webhooks/"+webhookID+"/rotate-secret", nil, &rotated)
	r.secrets.add(t, "webhook secret", rotated.Data.Secret)
	hook.SetSecret(rotated.Data.Secret)
	hook.AnswerWith(func(n int, _ receiver.Webhook) int {
		if n == 0 {
			return http.StatusInternalServerError // a failed attempt is logged
		}
		return http.StatusOK
	})
	var key struct{ Key string }
	r.admin(t, &key, "key", "create", "--partner", r.slug, "--name", "second")
	var connect struct{ ConnectSecret string }
	r.admin(t, &connect, "connect-secret", "rotate", "--partner", r.slug)
	r.secrets.add(t, "API key", key.Key)
	r.secrets.add(t, "connect secret", connect.ConnectSecret)
	wrong := "svc_pk_test_" + strings.Repeat("wrong", 8)
	r.secrets.add(t, "API key", wrong)
	status, _, err := r.api(t).with("X-Api-Key", wrong).do(http.MethodGet, "/me", nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusUnauthorized, status)

	r.secrets.add(t, "tenant", tenantFirst, tenantLast, tenantEmail, "theo.tenant@example.com")
	r.api(t).post("/clients", map[string]any{"accountId": accountID, "email": "theo.tenant@example.com",
		"firstName": "Theo", "lastName": "Tenant"}, nil)
	status, _, err = r.api(t).do(http.MethodPost, "/clients",
		map[string]any{"accountId": accountID, "email": "theo.tenant@example.com", "firstName": 7})
	require.NoError(t, err)
	require.Equal(t, http.StatusBadRequest, status)
	depositID, _ = r.stay(t, accountID, "4242 4242 4242 4242")
	r.capture(t, depositID)
	taken := hook.await(t, 2)[0]
	r.deliveries(t, webhookID)
	r.explanations(t, webhookID, taken)
	return depositID
}

// explanations asks about a delivery and a connect URL, good questions and bad.
func (r *secretRun) explanations(t *testing.T, webhookID string, taken received) {
	t.Helper()
	const computed, cookie, sig = "a-signature-that-was-computed", "session=of-the-receiver", "a-signature-in-a-url"
	signature, body := taken.Header.Get("X-Svc-Signature"), base64.StdEncoding.EncodeToString(taken.Body)
	connectURL := "https://dashboard.example/register?partner=acme&external_id=a-private-id&ts=1&sig=" + sig
	r.secrets.add(t, "question", computed, cookie, sig, "a-private-id", signature, body, string(taken.Body))
	for sent, want := range map[string]int{body: http.StatusOK, body + "!": http.StatusBadRequest} {
		status, _, err := r.api(t).do(http.MethodPost, "/webhooks/"+webhookID+"/explain", map[string]any{"body": sent,
			"headers":  map[string]string{"X-Svc-Signature": signature, "X-Svc-Timestamp": "1", "Cookie": cookie},
			"computed": computed})
		require.NoError(t, err)
		require.Equal(t, want, status)
	}
	for want, sent := range map[int]any{http.StatusOK: connectURL, http.StatusBadRequest: []string{connectURL}} {
		status, _, err := r.api(t).do(http.MethodPost, "/connect/explain", map[string]any{"url": sent})
		require.NoError(t, err)
		require.Equal(t, want, status)
	}
}

// stay takes a tenant through checkout with a card.
func (r *secretRun) stay(t *testing.T, accountID, card string) (depositID, checkoutURL string) {
	t.Helper()
	depositID, checkoutURL = r.deposit(t, accountID)
	r.secrets.add(t, "checkout token", checkoutURL[strings.LastIndexByte(checkoutURL, '/')+1:])
	b := newBrowser(t)
	hosted := openFee(t, b, checkoutURL)
	r.pageOfProvider(t, hosted)
	r.secrets.add(t, "card", card, strings.ReplaceAll(card, " ", ""))
	require.Equal(t, "partner.example", payWith(b, hosted, card).url.Host)
	return depositID, checkoutURL
}

func (r *secretRun) pageOfProvider(t *testing.T, hosted page) {
	t.Helper()
	r.secrets.add(t, "page of the provider", hosted.url.String(), hosted.url.Path)
}

// refusedOnce lets the card be refused, and the tenant pay on the provider's page.
func (r *secretRun) refusedOnce(t *testing.T, fake *stripetest.Fake, accountID string) {
	t.Helper()
	depositID, checkoutURL := r.stay(t, accountID, "5555 5555 5555 4444")
	fake.SetOffSessionOutcomes(depositID, stripetest.ChargeOutcome{DeclineCode: "lost_card",
		AdviceCode: "do_not_try_again"})
	r.capture(t, depositID)
	r.awaitCollection(t, depositID, "awaiting_tenant")
	b := newBrowser(t)
	hosted := b.act(b.open(checkoutURL), "pay", nil)
	require.True(t, strings.HasPrefix(hosted.url.Path, "/pay/"), hosted.body)
	r.pageOfProvider(t, hosted)
	r.secrets.add(t, "card", "4000 0000 0000 0002", "4000000000000002")
	refused := payWith(b, hosted, "4000 0000 0000 0002")
	require.Equal(t, http.StatusPaymentRequired, refused.status)
	refused.status = http.StatusOK // the page stays open for another card
	payWith(b, refused, "4242 4242 4242 4242")
	r.awaitCollection(t, depositID, "paid")
}

func (r *secretRun) capture(t *testing.T, depositID string) {
	t.Helper()
	r.api(t).post("/deposits/"+depositID+"/capture", map[string]any{"amount": 120.5, "reason": "damage"}, nil)
}

// returnTokens adds the tokens of the pages to which the provider leads tenants back.
func (r *secretRun) returnTokens(t *testing.T, fake *stripetest.Fake) {
	t.Helper()
	for _, request := range fake.Requests() {
		if at := request.Params.Get("success_url"); at != "" {
			_, rest, _ := strings.Cut(at, "/checkout/")
			token, _, ok := strings.Cut(rest, "/return")
			require.True(t, ok, at)
			r.secrets.add(t, "return token", token)
		}
	}
}

// TestSecrets_OfAFullRun_ComeFromFiles_AndShowInNoOutput looks for secrets in the logs, metrics, spans and Redis
// commands of processes that log at the lowest level, and in the output of admin commands. Before that, an operator
// signs up and turns two-factor codes on, a partner sends right and wrong requests, and tenants pay. Every secret of
// the settings is in a file.
func TestSecrets_OfAFullRun_ComeFromFiles_AndShowInNoOutput(t *testing.T) {
	t.Parallel()
	r := openSecretRun(t)
	fake := r.withStripe(t)
	r.secrets.add(t, "STRIPE_SECRET_KEY", stripeKey)
	r.secrets.add(t, "STRIPE_WEBHOOK_SECRET", stripeSigning)
	r.secrets.add(t, "client secret", "_secret_")
	var inFiles []string
	r.environ, inFiles = byFile(t, r.environ)
	require.Len(t, inFiles, 8)
	r.begin(t)
	b, accountID := r.operator(t)
	depositID := r.partner(t, accountID)
	b.open(r.baseURL + "/dashboard/deposits")
	collection := r.awaitCollection(t, depositID, "paid")
	code, stdout, stderr := run(t, r.environ, "admin", "collection", "refund", "--id", depositID, "--amount", "20.50",
		"--json")
	require.Zero(t, code, stderr)
	require.True(t, fake.DisputeCharge(collection.PaymentID, "fraudulent"))
	require.Contains(t, r.awaitDispute(t, depositID), "fraudulent")
	r.refusedOnce(t, fake, accountID)
	r.returnTokens(t, fake)

	outputs := r.outputs(t)
	outputs["admin collection refund"] = stdout + stderr
	require.Contains(t, outputs["stderr of dispatcher"], `"level":"DEBUG"`, "the lines of a success")
	for output, holds := range map[string][]string{ // each output is the real one
		"stderr of http":          {"/api/partner/v1/deposits/:depositId/capture", "/webhooks/payments/stripe"},
		"stderr of dispatcher":    {"delivery attempted"},
		"http/metrics":            {"svc_http_requests_total"},
		"dispatcher/metrics":      {"svc_webhook_attempts_total", "svc_payment"},
		"traces":                  {"relay", "/webhooks/payments/stripe", "GET /checkout/:token"},
		"Redis":                   {"asynq:{"},
		"admin collection refund": {"succeeded"},
	} {
		for _, text := range holds {
			require.Contains(t, outputs[output], text, output)
		}
	}
	var told strings.Builder // to the service, by the provider
	for _, e := range fake.Events() {
		told.Write(e.Body)
	}
	require.Subset(t, r.secrets.foundIn(told.String()), []string{"client secret", "tenant"},
		"the provider tells secrets in its notices")
	for _, kind := range []string{
		"keyset", "API key", "connect secret", "signature of a connect URL", "webhook secret", "query of a subscription",
		"checkout token", "password", "question", "token of a mail", "TOTP secret", "recovery code", "tenant", "card",
		"return token", "page of the provider",
	} {
		require.NotEmpty(t, r.secrets[kind], kind)
	}
	for output, text := range outputs {
		require.Empty(t, r.secrets.foundIn(text), output)
	}
}

// Each mistake is named, and nothing of a secret is shown.
func TestSecretFiles_MistakesAreNamed(t *testing.T) {
	t.Parallel()
	code, stdout, stderr := run(t, []string{"DATABASE_URL=postgres://u@db/x", "REDIS_URL=redis://r",
		"SMTP_URL=smtp://user:hunter2@127.0.0.1:1", "SMTP_URL_FILE=/nowhere/x", "MAIL_FROM=a@b.example",
		"STRIPE_SECRET_KEY_FILE=/nowhere/hunter2"}, "http")
	require.Equal(t, []any{2, ""}, []any{code, stdout})
	require.Equal(t, "the configuration has 2 mistakes:\n"+
		"  - SMTP_URL: is set, and so is SMTP_URL_FILE; set one of them\n"+
		"  - STRIPE_SECRET_KEY: the file that STRIPE_SECRET_KEY_FILE names cannot be read: no such file or directory\n", stderr)
}
