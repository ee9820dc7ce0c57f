//go:build kube

package trials

import (
	"context"
	"encoding/json"
	"fmt"
	"net"
	"net/http"
	"path/filepath"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/formbrowser"
	"partnerdeposits/lab/kube/node"
	"partnerdeposits/lab/load"
	"partnerdeposits/lab/procs"
	"partnerdeposits/lab/receiver"
	"partnerdeposits/lab/world"
)

// newKeyset is a keyset as the guide has one made.
func newKeyset(t *testing.T) string {
	t.Helper()
	said, err := procs.RunForOutput(t.Context(), procs.ProcessSpec{Name: "admin",
		Path: filepath.Join(cluster.images, next.tag, "admin"),
		Args: []string{"secrets", "new-keyset"}})
	require.NoError(t, err)
	return said[:len(said)-1]
}

// partner is a partner of a release, with a linked account and a webhook.
type partner struct {
	r       *release
	key     string
	account string
	client  *world.APIClient

	mu     sync.Mutex
	secret string
	got    map[string]int // verified webhooks by deposit
	wrong  []string       // reasons of refused ones
}

// newPartner takes the steps of a new partner: created by the operator of the service, linked by a signed URL, and
// subscribed to deposit.activated.
func (r *release) newPartner() *partner {
	r.t.Helper()
	// Each request has a connection of its own, and so a pod of its own.
	p := &partner{r: r, got: map[string]int{},
		client: &world.APIClient{Client: http.Client{Timeout: soon, Transport: &http.Transport{DisableKeepAlives: true}}}}
	var made struct{ APIKey string }
	r.admin(&made, "partner", "create", "--slug", "acme", "--name", "Acme Stays")
	p.key = made.APIKey

	var link struct{ URL string }
	r.admin(&link, "connect-url", "--partner", "acme", "--external-id", "villa-16")
	browser := formbrowser.New(soon, nil)
	page, err := browser.Get(r.t.Context(), link.URL)
	require.NoError(r.t, err)
	_, err = browser.Submit(r.t.Context(), page, "companyName", map[string]string{"email": "villa-16@example.com",
		"password": "correct-horse", "companyName": "Villa"})
	require.NoError(r.t, err)
	var accounts []struct{ AccountID string }
	require.NoError(r.t, p.call(http.MethodGet, "/accounts?externalId=villa-16", "", "").DecodeData(&accounts))
	require.Len(r.t, accounts, 1)
	p.account = accounts[0].AccountID

	var hook struct{ Secret string }
	body := fmt.Sprintf(`{"url": %q, "events": ["deposit.activated"]}`, p.listen())
	require.NoError(r.t, p.call(http.MethodPost, "/webhooks", "", body).DecodeData(&hook))
	p.mu.Lock()
	defer p.mu.Unlock()
	p.secret = hook.Secret
	return p
}

func (p *partner) call(method, path, key, body string) world.APIResponse {
	return p.client.Do(context.Background(), world.APICall{Base: p.r.origin, APIKey: p.key, Method: method, Path: path,
		Key: key, Body: body})
}

// listen serves the partner's endpoint where pods reach this machine.
func (p *partner) listen() (url string) {
	p.r.t.Helper()
	listener, err := net.Listen("tcp", node.GatewayAddress+":0")
	require.NoError(p.r.t, err)
	server := &http.Server{Handler: receiver.WebhookHandler(p.take), ReadHeaderTimeout: time.Minute}
	go func() { _ = server.Serve(listener) }()
	p.r.t.Cleanup(func() { _ = server.Close() })
	return "http://" + listener.Addr().String() + "/hook"
}

func (p *partner) take(w receiver.Webhook) (receiver.Responder, func(bool)) {
	p.mu.Lock()
	defer p.mu.Unlock()
	if reason := w.VerifySignature(p.secret); reason != "" {
		p.wrong = append(p.wrong, string(reason))
		return receiver.RespondRefusal(string(reason)), nil
	}
	var body struct{ Data struct{ ID string } }
	_ = json.Unmarshal(w.Body, &body) // "" then, which is no deposit
	p.got[body.Data.ID]++
	return receiver.RespondOK, nil
}

// times tells how often the activation of a deposit was delivered.
func (p *partner) times(deposit string) int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.got[deposit]
}

// activate creates a deposit and activates it: two requests, neither repeated.
func (p *partner) activate() (id string, err error) {
	a := p.call(http.MethodPost, "/deposits", uuid.NewString(), fmt.Sprintf(`{"accountId": %q, "amount": 700,
		"contractStartAt": "2030-06-01T14:00:00Z", "contractEndAt": "2030-06-08T10:00:00Z"}`, p.account))
	if id = a.DataID(); !a.OK() || id == "" {
		return "", fmt.Errorf("create: %d %s %w", a.Status, a.Body, a.Err)
	}
	a = p.call(http.MethodPost, "/test/deposits/"+id+"/simulate", "", `{"outcome": "activate"}`)
	if !a.OK() {
		return "", fmt.Errorf("activate: %d %s %w", a.Status, a.Body, a.Err)
	}
	return id, nil
}

// requireServing shows that http takes requests and the dispatcher delivers.
func (p *partner) requireServing() {
	p.r.t.Helper()
	id, err := p.activate()
	require.NoError(p.r.t, err)
	require.Eventually(p.r.t, func() bool { return p.times(id) == 1 }, soon, often, "no webhook of %s", id)
}

// traffic is a constant rate of requests in the background.
type traffic struct {
	p     *partner
	stop  context.CancelFunc
	ended chan *load.DurationHistogram
	begun time.Time

	mu       sync.Mutex
	done     []string // deposits that were answered as active
	failures []string
}

const requestsPerSecond = 100

// begin sends 100 requests a second, until end.
func (p *partner) begin() *traffic {
	ctx, stop := context.WithCancel(context.Background())
	p.r.t.Cleanup(stop)
	l := &traffic{p: p, stop: stop, ended: make(chan *load.DurationHistogram, 1), begun: time.Now()}
	go func() {
		times, _, _ := load.RunOpenLoop(ctx, load.EndlessCalls, requestsPerSecond/2, func(int, time.Time) error {
			id, err := p.activate()
			l.mu.Lock()
			defer l.mu.Unlock()
			if err != nil {
				l.failures = append(l.failures, fmt.Sprintf("%.1f s: %v", time.Since(l.begun).Seconds(), err))
			} else {
				l.done = append(l.done, id)
			}
			return nil
		})
		l.ended <- times
	}()
	return l
}

// requireNothingLost ends the traffic: no request has failed, each event has arrived, and none twice.
func (l *traffic) requireNothingLost(t *testing.T) {
	t.Helper()
	l.stop()
	took := time.Since(l.begun)
	times := <-l.ended
	rate := float64(2*len(l.done)) / took.Seconds()
	t.Logf("figure: %d of %d operations failed within %.0f s, %.0f requests a second; two requests took %.0f ms in the "+
		"median, %.0f ms at most of 99 %%", len(l.failures), len(l.failures)+len(l.done), took.Seconds(), rate,
		times.Percentile(50), times.Percentile(99))
	require.Empty(t, l.failures)
	require.NotEmpty(t, l.done)
	missing := func() (n int) {
		for _, id := range l.done {
			if l.p.times(id) == 0 {
				n++
			}
		}
		return n
	}
	require.Eventually(t, func() bool { return missing() == 0 }, soon, often)
	twice := 0
	for _, id := range l.done {
		if l.p.times(id) > 1 {
			twice++
		}
	}
	t.Logf("figure: %d events, 0 lost, %d delivered twice", len(l.done), twice)
	require.Zero(t, twice, "no process was killed and no answer was lost, so no delivery has a reason to be repeated")
	require.Empty(t, l.p.wrong, "refused webhooks")
	require.Greater(t, rate, 0.9*requestsPerSecond, "the machine was too busy to send the requests")
}
