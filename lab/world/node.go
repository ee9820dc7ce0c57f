package world

import (
	"context"
	"fmt"
	"io"
	"slices"
	"sync/atomic"
	"time"

	"partnerdeposits/lab/backing"
	"partnerdeposits/lab/procs"
)

// Node is a process of the service, which may end and start again at the same addresses.
type Node struct {
	Name string // such as "dispatcher 1"
	Path string // of the binary
	Args []string
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

// Begin runs the process with more settings. AwaitReady waits until it serves.
func (n *Node) Begin(env ...string) error {
	p, err := procs.Start(procs.Spec{Name: n.Name, Path: n.Path, Args: n.Args, Env: slices.Concat(n.Env, env),
		Log: n.Log})
	if err == nil {
		n.process.Store(p)
	}
	return err
}

// Start runs the process with more settings and waits until it is ready.
func (n *Node) Start(ctx context.Context, env ...string) error {
	if err := n.Begin(env...); err != nil {
		return err
	}
	return n.AwaitReady(ctx)
}

// AwaitReady waits until the running process is ready.
func (n *Node) AwaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, StartLimit)
	defer cancel()
	return n.Process().AwaitOK(ctx, n.Ops+"/readyz")
}

// Process is the last process that was begun; nil before.
func (n *Node) Process() *procs.Process { return n.process.Load() }
