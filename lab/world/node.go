package world

import (
	"context"
	"fmt"
	"io"
	"sync/atomic"
	"time"

	"partnerdeposits/lab/backing"
	"partnerdeposits/lab/procs"
)

// Node is a process of the service, which may end and start again at the same addresses.
type Node struct {
	Name string   // such as "dispatcher 1"
	Path string   // of the binary
	Env  []string // settings; a later one replaces an earlier one of that name
	Log  io.Writer
	Base string // URL of the API and the pages
	Ops  string // URL of /readyz and /metrics

	process atomic.Pointer[procs.Process]
}

// StartLimit bounds the time from start to readiness on a busy machine.
const StartLimit = 60 * time.Second

// NewNode gives a process two free ports, and the settings that name them.
func NewNode(name, path string, env ...string) (*Node, error) {
	var addresses [2]string
	for i := range addresses {
		port, err := backing.FreePort()
		if err != nil {
			return nil, err
		}
		addresses[i] = fmt.Sprintf("127.0.0.1:%d", port)
	}
	n := &Node{Name: name, Path: path, Base: "http://" + addresses[0], Ops: "http://" + addresses[1]}
	n.Env = append([]string{
		"HTTP_ADDR=" + addresses[0], "METRICS_ADDR=" + addresses[1], "API_BASE_URL=" + n.Base,
		"DASHBOARD_BASE_URL=" + n.Base,
	}, env...)
	return n, nil
}

// Begin starts the process and does not wait until the process is ready (AwaitReady).
func (n *Node) Begin() error {
	p, err := procs.Start(procs.Spec{Name: n.Name, Path: n.Path, Env: n.Env, Log: n.Log})
	if err == nil {
		n.process.Store(p)
	}
	return err
}

// AwaitReady waits until the running process is ready.
func (n *Node) AwaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, StartLimit)
	defer cancel()
	return n.Process().AwaitOK(ctx, n.Ops+"/readyz")
}

// Pause waits for span.
func Pause(ctx context.Context, span time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(span):
		return nil
	}
}

// Process is the last process that was begun; nil before.
func (n *Node) Process() *procs.Process { return n.process.Load() }
