package main

import (
	"context"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"time"

	"partnerdeposits/lab/procs"
	"partnerdeposits/lab/world"
)

const (
	rounds = 3
	// window is longer than any walk. All windows without a request together are longer than the pauses of what runs by
	// the clock beside requests: checks of readiness, looks at the outbox and at the sizes of tables.
	window = 5 * time.Second
)

// walk is a request that is followed.
type walk struct {
	name string
	// through are the processes whose code counts.
	through func(*installation) []*world.Node
	// prepare makes what the request needs. act sends the request, and returns when its last effect is seen.
	prepare func(context.Context, *installation) (act func(context.Context) error, err error)
}

// follow takes the walk several times, each for a new partner, and gives its files. Before each walk is a time without
// a request. A first walk that does not count fills what is filled once in the life of a process.
func (in *installation) follow(ctx context.Context, w walk) ([]string, error) {
	var walked []map[block]bool
	idle, nodes := map[block]bool{}, w.through(in)
	for i := range 1 + rounds {
		act, err := w.prepare(ctx, in)
		if err != nil {
			return nil, fmt.Errorf("prepare: %w", err)
		}
		nothing := func(ctx context.Context) error { return pause(ctx, window) }
		if _, err = in.during(ctx, nodes, nothing); err != nil { // the effects of the preparation end
			return nil, err
		}
		ran, err := in.during(ctx, nodes, nothing)
		if err != nil {
			return nil, err
		}
		maps.Copy(idle, ran)
		began := time.Now()
		if ran, err = in.during(ctx, nodes, act); err != nil {
			return nil, err
		}
		if took := time.Since(began); took > window {
			return nil, fmt.Errorf("the machine is busy: the walk took %v, and the time without a request %v", took, window)
		}
		if i > 0 {
			walked = append(walked, ran)
		}
	}
	return filesOf(walked, idle), nil
}

// during gives the blocks that ran in the processes while do ran.
func (in *installation) during(
	ctx context.Context, nodes []*world.Node, do func(context.Context) error,
) (map[block]bool, error) {
	if err := do(ctx); err != nil {
		return nil, err
	}
	return in.ran(ctx, nodes)
}

func pause(ctx context.Context, span time.Duration) error {
	select {
	case <-time.After(span):
		return nil
	case <-ctx.Done():
		return ctx.Err()
	}
}

// ran gives the blocks that ran in the processes since the last call.
func (in *installation) ran(ctx context.Context, nodes []*world.Node) (map[block]bool, error) {
	in.readings++
	base := filepath.Join(in.dir, fmt.Sprint("counters", in.readings))
	args := ""
	for i, n := range nodes {
		dir := fmt.Sprint(base, "-", i)
		n.Process().Tell(dir)
		if err := n.Process().Await(ctx, func() error { _, err := os.Stat(dir); return err }); err != nil {
			return nil, err
		}
		args += "," + dir
	}
	profile := base + ".txt"
	_, err := procs.Must(ctx, procs.Spec{
		Name: "covdata", Path: "go", Args: []string{"tool", "covdata", "textfmt", "-i=" + args[1:], "-o=" + profile},
		Env: os.Environ(),
	})
	if err != nil {
		return nil, err
	}
	text, err := os.ReadFile(profile)
	return ranIn(string(text)), err
}
