package main

import (
	"context"
	"errors"
	"net"
	"net/http"
	"strings"
	"syscall"
	"time"

	"partnerdeposits/cmd/internal/config"
	"partnerdeposits/cmd/internal/receiver"
	"partnerdeposits/cmd/internal/run"
)

// places are the addresses of everything that listens.
type places struct {
	public, httpMetrics, dispatcherMetrics, receiver string
}

const receiverTimeout = 10 * time.Second

// choosePlaces takes the usual ports, or free ones where those are taken, and says so. HTTP_ADDR is taken as it is.
func choosePlaces(environ []string, say func(string, ...any)) (places, error) {
	var p places
	given := ""
	for _, pair := range environ {
		if value, ok := strings.CutPrefix(pair, "HTTP_ADDR="); ok {
			given = value
		}
	}
	for _, each := range []struct {
		where *string
		usual string
		what  string
	}{
		{&p.public, "127.0.0.1:8080", "the service"},
		{&p.httpMetrics, "127.0.0.1:9090", "the metrics of http"},
		{&p.dispatcherMetrics, "127.0.0.1:9091", "the metrics of the dispatcher"},
		{&p.receiver, "127.0.0.1:8090", "the demo receiver"},
	} {
		if each.where == &p.public && given != "" {
			p.public = given
			continue
		}
		chosen, err := free(each.usual)
		if err != nil {
			return p, err
		}
		if *each.where = chosen; chosen != each.usual {
			say("ports: %s is taken, so %s is at %s", each.usual, each.what, chosen)
		}
	}
	return p, nil
}

// free gives addr, or another port of the same host where addr is taken.
func free(addr string) (string, error) {
	listener, err := net.Listen("tcp", addr)
	if errors.Is(err, syscall.EADDRINUSE) {
		host, _, _ := net.SplitHostPort(addr) // a constant
		listener, err = net.Listen("tcp", net.JoinHostPort(host, "0"))
	}
	if err != nil {
		return "", err
	}
	return listener.Addr().String(), listener.Close()
}

// environ is what the sandbox sets unless somebody else did: readable logs, and few of them.
func (p places) environ(given []string) []string {
	out := []string{"HTTP_ADDR=" + p.public}
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

func (p places) http(cfg config.Config) config.Config {
	cfg.MetricsAddr = p.httpMetrics
	return cfg
}

func (p places) dispatcher(cfg config.Config) config.Config {
	cfg.MetricsAddr = p.dispatcherMetrics
	return cfg
}

// receiverPart listens for webhooks. It is the first to start and the last to stop: what is under way still arrives.
func receiverPart(addr string, demo *receiver.Receiver) run.Part {
	server := &http.Server{Handler: demo.Handler(), ReadTimeout: receiverTimeout, WriteTimeout: receiverTimeout}
	return run.Part{
		Name: "demo receiver",
		Start: func(ctx context.Context, fail func(error)) error {
			listener, err := (&net.ListenConfig{}).Listen(ctx, "tcp", addr)
			if err != nil {
				return err
			}
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
