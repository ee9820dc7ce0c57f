package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"time"

	"github.com/prometheus/procfs"
)

// use is the time of all processors in a span, in seconds.
type use struct {
	all, busy, stolen float64 // stolen by the host, for other machines
	own               float64 // of the part and all its children
}

// machineUse reads the use since the start of the machine. A machine without /proc tells nothing, and counts as quiet.
func machineUse() (u use) {
	proc, err := procfs.NewDefaultFS()
	if err != nil {
		return u
	}
	told, err := proc.Stat()
	if err != nil {
		return u
	}
	m := told.CPUTotal
	u.busy, u.stolen = m.User+m.Nice+m.System+m.IRQ+m.SoftIRQ, m.Steal
	u.all = u.busy + u.stolen + m.Idle + m.Iowait
	return u
}

// since gives the use after an earlier reading. ended is the part.
func (u use) since(before use, ended *os.ProcessState) use {
	u.all, u.busy, u.stolen = u.all-before.all, u.busy-before.busy, u.stolen-before.stolen
	if ended != nil {
		u.own = (ended.UserTime() + ended.SystemTime()).Seconds()
	}
	return u
}

// shares of all processors: that others than the part have used, and that the host has stolen.
func (u use) others() float64 { return max(0, u.busy-u.own) / max(u.all, 1) }
func (u use) lost() float64   { return u.stolen / max(u.all, 1) }

func (u use) String() string {
	used := u.busy / max(u.all, 1)
	return fmt.Sprintf("used %3.0f %%, by others %3.0f %%, stolen %2.0f %%", 100*used, 100*u.others(), 100*u.lost())
}

// quietEnough tells that figures from such a machine can be judged.
func (u use) quietEnough() bool { return u.others() < .2 && u.lost() < .03 }

var errBusy = errors.New("the machine did not become quiet")

// awaitQuiet waits some minutes until the machine has had nothing to do for a while.
func awaitQuiet(ctx context.Context) (last use, err error) {
	const sample, patience = 10 * time.Second, 5 * time.Minute
	for deadline := time.Now().Add(patience); time.Now().Before(deadline); {
		before := machineUse()
		select {
		case <-ctx.Done():
			return last, ctx.Err()
		case <-time.After(sample):
		}
		if last = machineUse().since(before, nil); last.quietEnough() {
			return last, nil
		}
	}
	return last, errBusy
}
