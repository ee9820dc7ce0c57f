package webhook

import (
	"context"
	"sync"
)

// gate bounds how many connections to one address are being made at once. An endpoint that ends the connection under all
// its requests has each of them shake hands anew, in the same moment; the others would wait for the processor. Who is
// refused or hangs holds up its own address alone.
type gate struct {
	places int
	mu     sync.Mutex
	doors  map[string]*door
}

type door struct {
	places chan struct{}
	users  int // that hold a place or wait for one; without any the door is forgotten
}

// enter waits for a place; leave gives it back, and is nil when ctx ended first.
func (g *gate) enter(ctx context.Context, address string) (leave func(), err error) {
	d := g.use(address)
	select {
	case d.places <- struct{}{}:
		return func() {
			<-d.places
			g.release(address, d)
		}, nil
	case <-ctx.Done():
		g.release(address, d)
		return nil, ctx.Err()
	}
}

func (g *gate) use(address string) *door {
	g.mu.Lock()
	defer g.mu.Unlock()
	d := g.doors[address]
	if d == nil {
		d = &door{places: make(chan struct{}, g.places)}
		if g.doors == nil {
			g.doors = map[string]*door{}
		}
		g.doors[address] = d
	}
	d.users++
	return d
}

func (g *gate) release(address string, d *door) {
	g.mu.Lock()
	defer g.mu.Unlock()
	if d.users--; d.users == 0 {
		delete(g.doors, address)
	}
}
