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

// ServiceProcess is a process of the service, which can start again at the same addresses.
type ServiceProcess struct {
	Name string // Name of the process in messages, such as "dispatcher 1".
	Path string
	// Settings as NAME=value; of the same name the last wins.
	Env  []string
	Log  io.Writer
	Base string // Base URL of the API and the pages.
	Ops  string // Base URL of /readyz and /metrics.

	process atomic.Pointer[procs.Process]
}

// MaxStartTime bounds the start of a process on a busy machine.
const MaxStartTime = 60 * time.Second

// NewServiceProcess returns a process of the service that is not yet started, with two free ports.
func NewServiceProcess(name, path string, env ...string) (*ServiceProcess, error) {
	var addresses [2]string
	for i := range addresses {
		port, err := backing.FreePort()
		if err != nil {
			return nil, err
		}
		addresses[i] = fmt.Sprintf("127.0.0.1:%d", port)
	}
	n := &ServiceProcess{Name: name, Path: path, Base: "http://" + addresses[0], Ops: "http://" + addresses[1]}
	n.Env = append([]string{
		"HTTP_ADDR=" + addresses[0], "METRICS_ADDR=" + addresses[1], "API_BASE_URL=" + n.Base,
		"DASHBOARD_BASE_URL=" + n.Base,
	}, env...)
	return n, nil
}

// Start starts the process without waiting until it is ready (AwaitReady).
func (n *ServiceProcess) Start() error {
	p, err := procs.Start(procs.ProcessSpec{Name: n.Name, Path: n.Path, Env: n.Env, Log: n.Log})
	if err == nil {
		n.process.Store(p)
	}
	return err
}

// AwaitReady waits until the process answers 200 at /readyz.
func (n *ServiceProcess) AwaitReady(ctx context.Context) error {
	ctx, cancel := context.WithTimeout(ctx, MaxStartTime)
	defer cancel()
	return n.Process().AwaitHTTPOK(ctx, n.Ops+"/readyz")
}

// Sleep waits for a duration; the end of ctx is an error.
func Sleep(ctx context.Context, span time.Duration) error {
	select {
	case <-ctx.Done():
		return ctx.Err()
	case <-time.After(span):
		return nil
	}
}

// Process returns the process started last; nil before the first start.
func (n *ServiceProcess) Process() *procs.Process { return n.process.Load() }
