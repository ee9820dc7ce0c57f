package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"partnerdeposits/cmd/internal/receiver"
	"partnerdeposits/cmd/internal/run"
)

// places is everything that listens. The listeners are open from the start, so that nobody else gets there first.
type places struct {
	public, httpMetrics, dispatcherMetrics, receiver net.Listener
}

const receiverTimeout = 10 * time.Second

// choosePlaces takes the usual ports, or free ones where those are taken, and says so. HTTP_ADDR is taken as it is.
func choosePlaces(ctx context.Context, environ []string, say func(string, ...any)) (p places, err error) {
	given := ""
	for _, pair := range environ {
		if value, ok := strings.CutPrefix(pair, "HTTP_ADDR="); ok {
			given = value
		}
	}
	if given != "" {
		if p.public, err = listen(ctx, given); err != nil {
			return p, err
		}
	}
	for _, each := range []struct {
		where *net.Listener
		usual string
		what  string
	}{
		{&p.public, "127.0.0.1:8080", "the service"},
		{&p.httpMetrics, "127.0.0.1:9090", "the metrics of http"},
		{&p.dispatcherMetrics, "127.0.0.1:9091", "the metrics of the dispatcher"},
		{&p.receiver, "127.0.0.1:8090", "the demo receiver"},
	} {
		if *each.where != nil {
			continue
		}
		*each.where, err = listen(ctx, each.usual)
		if errors.Is(err, syscall.EADDRINUSE) {
			*each.where, err = listen(ctx, "127.0.0.1:0")
			if err == nil {
				say("ports: %s is taken; %s at %s instead", each.usual, each.what, (*each.where).Addr())
			}
		}
		if err != nil {
			p.close()
			return p, err
		}
	}
	return p, nil
}

func listen(ctx context.Context, addr string) (net.Listener, error) {
	return (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
}

// close gives the places up that no server has taken over; those close their own.
func (p places) close() {
	for _, l := range []net.Listener{p.public, p.httpMetrics, p.dispatcherMetrics, p.receiver} {
		if l != nil {
			_ = l.Close()
		}
	}
}

// environ is what the sandbox sets unless somebody else did: readable logs, and few of them.
func (p places) environ(given []string) []string {
	out := []string{"HTTP_ADDR=" + p.public.Addr().String()}
	for _, pair := range []string{"LOG_FORMAT=text", "LOG_LEVEL=error"} {
		name, _, _ := strings.Cut(pair, "=")
		if !isSet(given, name) {
			out = append(out, pair)
		}
	}
	return out
}

func isSet(environ []string, name string) bool {
	for _, pair := range environ {
		if value, ok := strings.CutPrefix(pair, name+"="); ok && value != "" {
			return true
		}
	}
	return false
}

// receiverPart listens for webhooks. It is the first to start and the last to stop: what is under way still arrives.
func receiverPart(listener net.Listener, demo *receiver.Receiver) run.Part {
	server := &http.Server{Handler: demo.Handler(), ReadTimeout: receiverTimeout, WriteTimeout: receiverTimeout}
	return run.Part{
		Name: "demo receiver",
		Start: func(_ context.Context, fail func(error)) error {
			go func() {
				if err := server.Serve(listener); !errors.Is(err, http.ErrServerClosed) {
					fail(err)
				}
			}()
			return nil
		},
		Stop: server.Shutdown,
	}
}
