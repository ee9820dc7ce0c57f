package main

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/Shopify/toxiproxy/v2"
	"github.com/rs/zerolog"
)

// link is a TCP proxy between a process and a store. All traffic of the services to Postgres and Redis passes through
// links.
type link struct{ proxy *toxiproxy.Proxy }

// network creates links.
type network struct{ server *toxiproxy.ApiServer }

func newNetwork() *network {
	return &network{server: toxiproxy.NewServer(toxiproxy.NewMetricsContainer(nil), zerolog.Nop())}
}

func (n *network) link(name, upstream string) (*link, error) {
	l := &link{proxy: toxiproxy.NewProxy(n.server, name, "127.0.0.1:0", upstream)}
	return l, l.proxy.Start()
}

// address is the proxy's address, which never changes.
func (l *link) address() string { return l.proxy.Listen }

// cut ends all connections and refuses new ones until heal.
func (l *link) cut() { l.proxy.Stop() }

// disturb adds a toxic, such as latency {latency, jitter}, bandwidth {rate}, slicer {…}, reset_peer {timeout}; with
// timeout {timeout: 0} connections stay open and nothing passes. Times are milliseconds.
func (l *link) disturb(kind, direction string, attributes map[string]any) error {
	spec, err := json.Marshal(map[string]any{"type": kind, "name": kind + "_" + direction, "stream": direction,
		"toxicity": 1, "attributes": attributes})
	if err != nil {
		return err
	}
	_, err = l.proxy.Toxics.AddToxicJson(bytes.NewReader(spec))
	return err
}

// heal ends every disturbance.
func (l *link) heal(ctx context.Context) error {
	l.proxy.Toxics.ResetToxics(ctx)
	if l.proxy.Enabled {
		return nil
	}
	return l.proxy.Start()
}
