//go:build long

package e2e_test

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"sync"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	generator "partnerdeposits/lab/load"
)

// load repeats an operation at a constant rate.
type load struct {
	w       *deployment
	account string
	operate func(*load) (depositID string, err error)
	client  *http.Client
	stop    context.CancelFunc
	ended   chan struct{}
	begun   time.Time

	mu       sync.Mutex
	done     []string // ids of deposits whose operation succeeded
	failures []string
}

const operationsPerSecond = 150

// load creates and activates deposits, two requests each.
func (w *deployment) load(account string) *load {
	return w.loadOf(account, operationsPerSecond, func(l *load) (string, error) {
		id, _, err := l.create(uuid.NewString(), l.terms())
		if err == nil {
			_, err = l.send(http.MethodPost, "/test/deposits/"+id+"/simulate", "",
				map[string]any{"outcome": "activate"})
		}
		return id, err
	})
}

func (w *deployment) loadOf(account string, perSecond int, operate func(*load) (string, error)) *load {
	ctx, stop := context.WithCancel(context.Background())
	l := &load{
		w: w, account: account, operate: operate, stop: stop, ended: make(chan struct{}), begun: time.Now(),
		client: &http.Client{Timeout: soon, Transport: &http.Transport{MaxIdleConnsPerHost: 128}},
	}
	go func() {
		defer close(l.ended)
		// until stop
		_, _, _ = generator.RunOpenLoop(ctx, generator.EndlessCalls, perSecond,
			func(int, time.Time) error { l.operation(); return nil })
	}()
	return l
}

func (l *load) operation() {
	id, err := l.operate(l)
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil {
		l.failures = append(l.failures, err.Error())
		return
	}
	l.done = append(l.done, id)
}

// terms are the body of a deposit.
func (l *load) terms() map[string]any {
	return map[string]any{"accountId": l.account, "amount": 700, "contractStartAt": "2030-06-01T14:00:00Z",
		"contractEndAt": "2030-06-08T10:00:00Z"}
}

// create makes a deposit, and gives its id and the answer.
func (l *load) create(key string, terms map[string]any) (id string, raw []byte, err error) {
	raw, err = l.send(http.MethodPost, "/deposits", key, terms)
	var answer struct{ Data struct{ ID string } }
	if err == nil {
		err = json.Unmarshal(raw, &answer)
	}
	return answer.Data.ID, raw, err
}

// send sends a request to the API, without a second try, and gives the answer.
func (l *load) send(method, path, key string, body any) ([]byte, error) {
	var encoded []byte
	if body != nil {
		var err error
		if encoded, err = json.Marshal(body); err != nil {
			return nil, err
		}
	}
	request, err := http.NewRequest(method, l.w.baseURL+"/api/partner/v1"+path, bytes.NewReader(encoded))
	if err != nil {
		return nil, err
	}
	request.GetBody = nil // else the client repeats a request with an idempotency key by itself
	request.Header = http.Header{"X-Api-Key": {l.w.apiKey}, "Content-Type": {"application/json"}}
	if key != "" {
		request.Header.Set("Idempotency-Key", key)
	}
	return l.do(request)
}

func (l *load) do(request *http.Request) ([]byte, error) {
	response, err := l.client.Do(request)
	if err != nil {
		return nil, err
	}
	defer response.Body.Close()
	raw, err := io.ReadAll(response.Body)
	if err == nil && response.StatusCode >= http.StatusMultipleChoices {
		err = fmt.Errorf("%s: %d %s", request.URL.Path, response.StatusCode, raw)
	}
	return raw, err
}

// await waits for n further operations.
func (l *load) await(t *testing.T, n int) {
	t.Helper()
	count := func() int {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.done) + len(l.failures)
	}
	until := count() + n
	require.Eventually(t, func() bool { return count() >= until }, soon, often)
}

func (l *load) end() (done, failures []string, took time.Duration) {
	l.stop()
	took = time.Since(l.begun)
	<-l.ended
	l.client.CloseIdleConnections()
	return l.done, l.failures, took
}
