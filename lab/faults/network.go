package main

import (
	"bytes"
	"context"
	"encoding/json"

	"github.com/Shopify/toxiproxy/v2"
)

// link is a TCP proxy between a process and a store. All traffic of the services to Postgres and Redis passes through
// links. Stop cuts a link: it ends all connections and refuses new ones until heal.
type link struct{ *toxiproxy.Proxy }

func (w *suite) link(name, upstream string) (link, error) {
	l := link{toxiproxy.NewProxy(w.links, name, "127.0.0.1:0", upstream)}
	return l, l.Start()
}

// disturb adds a toxic, such as latency {latency, jitter}, bandwidth {rate}, slicer {…}, reset_peer {timeout}; with
// timeout {timeout: 0} connections stay open and nothing passes. Times are milliseconds.
func (l link) disturb(kind, direction string, attributes map[string]any) error {
	spec, err := json.Marshal(map[string]any{"type": kind, "name": kind + "_" + direction, "stream": direction,
		"toxicity": 1, "attributes": attributes})
	if err != nil {
		return err
	}
	_, err = l.Toxics.AddToxicJson(bytes.NewReader(spec))
	return err
}

// heal ends every disturbance.
func (l link) heal(ctx context.Context) error {
	l.Toxics.ResetToxics(ctx)
	if l.Enabled {
		return nil
	}
	return l.Start()
}
