//go:build long

package e2e_test

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"math/rand/v2"
	"net/http"
	"net/url"
	"slices"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// The mixed load: so many operations a second, of so many requests each.
const (
	mixedPerSecond = 12
	mixedRequests  = 7
)

var errAnotherAnswer = errors.New("a repeated request got another answer")

// mixed creates a deposit twice with a key, reads the deposit, its checkout and a list, activates and captures.
func mixed(l *load) (id string, err error) {
	terms, key := l.terms(), uuid.NewString()
	terms["depositUrlGeneration"], terms["returnUrl"] = true, "https://partner.example/thanks"
	id, first, err := l.create(key, terms)
	if err != nil {
		return "", err
	}
	_, second, err := l.create(key, terms)
	if err != nil {
		return "", err
	}
	if !bytes.Equal(first, second) {
		return "", fmt.Errorf("%w: %s, then %s", errAnotherAnswer, first, second)
	}
	raw, err := l.send(http.MethodGet, "/deposits/"+id, "", nil)
	var read struct{ Data struct{ DepositURL string } }
	if err = errors.Join(err, json.Unmarshal(raw, &read)); err != nil {
		return "", err
	}
	request, err := http.NewRequest(http.MethodGet, at(l.w.baseURL, read.Data.DepositURL), nil)
	if err != nil {
		return "", err
	}
	// each tenant has an address, since pages of checkout are counted by it
	request.Header.Set("X-Real-IP", fmt.Sprintf("10.%d.%d.%d", rand.IntN(256), rand.IntN(256), rand.IntN(256)))
	if _, err = l.do(request); err != nil {
		return "", err
	}
	for _, step := range []struct {
		method, path string
		body         any
	}{
		{http.MethodPost, "/test/deposits/" + id + "/simulate", map[string]any{"outcome": "activate"}},
		{http.MethodGet, "/deposits?limit=5", nil},
		{http.MethodPost, "/deposits/" + id + "/capture", map[string]any{"amount": 120.5, "reason": "damage"}},
	} {
		if _, err = l.send(step.method, step.path, "", step.body); err != nil {
			return "", err
		}
	}
	return id, nil
}

// endMixed ends the load and judges it: no operation failed, and each event arrived once.
func (f *fleet) endMixed(t *testing.T, l *load, r *hook) {
	t.Helper()
	done, failures, took := l.end()
	rate := float64(mixedRequests*len(done)) / took.Seconds()
	t.Logf("figure: %d of %d operations of %d requests failed in %.0f s, %.0f requests a second", len(failures),
		len(failures)+len(done), mixedRequests, took.Seconds(), rate)
	require.Empty(t, failures)
	require.Greater(t, rate, 60.0, "the machine was too busy")
	f.requireOnce(t, r, slices.Concat(events(done, "deposit.activated"), events(done, "deposit.captured"), f.besides))
	t.Logf("figure: %d events, each delivered once", 2*len(done)+len(f.besides))
}

// at gives an address of the service with another host: that of a single process, or of the proxy.
func at(base, address string) string {
	to, err := url.Parse(base)
	if err != nil {
		return err.Error()
	}
	from, err := url.Parse(address)
	if err != nil {
		return err.Error()
	}
	from.Scheme, from.Host = to.Scheme, to.Host
	return from.String()
}

// begun is the work of a partner, an operator and a tenant that a process has begun.
type begun struct {
	key, depositID, depositURL string
	terms                      map[string]any
	answer                     []byte
	operator                   *browser
	form                       page   // a form with its token, not sent yet
	connectURL                 string // signed, not opened yet
}

// begin begins work at a process. name is new to the deployment.
func (f *fleet) begin(t *testing.T, l *load, m *member, name string) begun {
	t.Helper()
	base := "http://" + m.addr
	b := begun{key: uuid.NewString(), terms: l.terms(), operator: newBrowser(t),
		connectURL: f.w.connectURL(t, name+"-later")}
	b.terms["depositUrlGeneration"], b.terms["returnUrl"] = true, "https://partner.example/thanks?booking=1"
	status, raw, err := (&apiClient{t: t, base: base + "/api/partner/v1", header: http.Header{"X-Api-Key": {f.w.apiKey},
		"Content-Type": {"application/json"}}}).with("Idempotency-Key", b.key).do(http.MethodPost, "/deposits", b.terms)
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, status, string(raw))
	b.answer = raw
	var made struct {
		Data struct{ ID, DepositURL string }
	}
	require.NoError(t, json.Unmarshal(raw, &made))
	b.depositID, b.depositURL = made.Data.ID, made.Data.DepositURL
	b.operator.signUp(t, at(base, f.w.connectURL(t, name)), name)
	b.form = b.operator.open(base + "/dashboard/settings")
	return b
}

// finish lets a process finish the work: the answer of a key, a session, a form, a connect URL and a checkout hold.
func (f *fleet) finish(t *testing.T, m *member, b begun, name string) {
	t.Helper()
	base := "http://" + m.addr
	status, raw, err := (&apiClient{t: t, base: base + "/api/partner/v1", header: http.Header{"X-Api-Key": {f.w.apiKey},
		"Content-Type": {"application/json"}}}).with("Idempotency-Key", b.key).do(http.MethodPost, "/deposits", b.terms)
	require.NoError(t, err)
	require.Equal(t, http.StatusCreated, status, string(raw))
	require.Equal(t, string(b.answer), string(raw), "the answer of the key")
	desk := b.operator.open(base + "/dashboard/deposits")
	require.Equal(t, http.StatusOK, desk.status)
	require.Equal(t, "/dashboard/deposits", desk.url.Path, "the session holds")
	var errAt error
	b.form.url, errAt = url.Parse(at(base, b.form.url.String()))
	require.NoError(t, errAt)
	sent := b.operator.act(b.form, "change_contact", url.Values{"contact": {name + "@example.com"}})
	require.Equal(t, "done=change_contact", sent.url.RawQuery, "the form's token holds: %s", sent.body)
	newBrowser(t).signUp(t, at(base, b.connectURL), name+"-later")
	f.w.secure(t, at(base, b.depositURL))
	f.besides = append(f.besides, event{b.depositID, "deposit.activated"})
}

// signUp opens a connect URL and signs up.
func (b *browser) signUp(t *testing.T, connectURL, name string) {
	t.Helper()
	end := b.submit(b.open(connectURL), url.Values{"email": {name + "@example.com"}, "password": {"correct-horse"},
		"companyName": {"Villa " + name}})
	require.Equal(t, "/dashboard", end.url.Path, end.body)
}
