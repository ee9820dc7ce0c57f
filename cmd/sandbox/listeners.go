package main

import (
	"context"
	"errors"
	"fmt"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"partnerdeposits/lab/receiver"
	"partnerdeposits/process/run"
	"partnerdeposits/process/wire"
)

// listeners holds the sandbox's listening sockets, opened first so that no other process takes their ports.
type listeners struct {
	public, httpMetrics, dispatcherMetrics, receiver net.Listener
}

const receiverTimeout = 10 * time.Second

// openListeners opens the sandbox's usual ports, or a free port in place of one that is in use. The addresses in
// HTTP_ADDR and METRICS_ADDR are never replaced.
func openListeners(ctx context.Context, environ []string, say func(string, ...any)) (l listeners, err error) {
	for _, each := range []struct {
		where      *net.Listener
		name, what string
	}{{&l.public, "HTTP_ADDR", "the service"}, {&l.httpMetrics, "METRICS_ADDR", "the metrics of http"}} {
		given := ""
		for _, pair := range environ {
			if value, ok := strings.CutPrefix(pair, each.name+"="); ok {
				given = value
			}
		}
		if given == "" {
			continue
		}
		if *each.where, err = listen(ctx, given); err != nil {
			l.close()
			return l, fmt.Errorf("%s: %w", each.name, err)
		}
		say("ports: %s at %s, as %s says", each.what, (*each.where).Addr(), each.name)
	}
	for _, each := range []struct {
		where *net.Listener
		usual string
		what  string
	}{
		{&l.public, "127.0.0.1:8080", "the service"},
		{&l.httpMetrics, "127.0.0.1:9090", "the metrics of http"},
		{&l.dispatcherMetrics, "127.0.0.1:9091", "the metrics of the dispatcher"},
		{&l.receiver, "127.0.0.1:8090", "the demo receiver"},
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
			l.close()
			return l, err
		}
	}
	return l, nil
}

func listen(ctx context.Context, addr string) (net.Listener, error) {
	return (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
}

// close closes the sandbox's listeners. Servers have closed some of them before, so errors are ignored.
func (l listeners) close() {
	for _, each := range []net.Listener{l.public, l.httpMetrics, l.dispatcherMetrics, l.receiver} {
		if each != nil {
			_ = each.Close()
		}
	}
}

// environ returns the sandbox's defaults for environment variables that are not set.
func (l listeners) environ(given []string) []string {
	out := []string{"HTTP_ADDR=" + l.public.Addr().String()}
	if !isSet(given, "SECRETS_KEYSET") && !isSet(given, "SERVICE_ENV") {
		out = append(out, "SECRETS_KEYSET="+wire.DevelopmentKeyset)
	}
	for _, pair := range []string{"LOG_FORMAT=text", "LOG_LEVEL=warn"} {
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

// receiverPart returns the part that serves the demo receiver. It starts first and stops last, so that webhooks in
// flight still arrive.
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
