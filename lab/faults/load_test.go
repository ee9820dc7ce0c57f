package main

import (
	"net/http"
	"net/http/httptest"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/world"
)

// The audit would report the event of a change that is committed after the audit began as lost.
func TestLoad_Stop_WaitsForTheAnswersOfRequestsInFlight(t *testing.T) {
	t.Parallel()
	entered, answer := make(chan struct{}, 1), make(chan struct{})
	release := sync.OnceFunc(func() { close(answer) })
	service := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, _ *http.Request) {
		select {
		case entered <- struct{}{}:
		default:
		}
		<-answer
		w.WriteHeader(http.StatusServiceUnavailable)
	}))
	t.Cleanup(service.Close)
	t.Cleanup(release)
	l := newLoad(&suite{})
	l.bases, l.owners = []string{service.URL}, []*world.Partner{{}}
	l.start(50)
	<-entered
	stopped := make(chan struct{})
	go func() { l.stop(); close(stopped) }()
	require.Never(t, func() bool {
		select {
		case <-stopped:
			return true
		default:
			return false
		}
	}, 200*time.Millisecond, 10*time.Millisecond, "the service still works on a request")
	release()
	<-stopped
}
