package stripetest

import (
	"net/http"
	"strings"
	"time"
)

// FaultKind is a way in which a request goes wrong.
type FaultKind string

// The ways.
const (
	LostBefore FaultKind = "lost_before" // the connection dies, and nothing happens
	LostAfter  FaultKind = "lost_after"  // the request takes effect, and the connection dies
	TakesLate  FaultKind = "late"        // the connection dies, and the request takes effect after Delay
	Delayed    FaultKind = "delayed"     // the request waits for Delay, holding its key, and is then answered
	Hang       FaultKind = "hang"        // no answer and no effect until the caller gives up
	Broken     FaultKind = "broken"      // 500 without effect, kept under the key
	BrokenDone FaultKind = "broken_done" // 500 after the effect, kept under the key
	Doubled    FaultKind = "doubled"     // the request arrives twice, and the second answer is given
	Overloaded FaultKind = "overloaded"  // 429
	Unready    FaultKind = "unready"     // 503 without effect, not kept
	Refused    FaultKind = "refused"     // 400 without effect, not kept
)

// Fault is a failure of a request. The zero value is none.
type Fault struct {
	Kind   FaultKind
	Method string // "": any
	Path   string // a part of the path, such as "/confirm"; "": any
	Delay  time.Duration
}

// Fail makes the next requests fail, each fault once, at the first request that it fits.
func (f *Fake) Fail(faults ...Fault) {
	f.change(func() { f.faults = append(f.faults, faults...) })
}

// FailBy lets choose decide about every request; nil ends this. choose may be called from several goroutines.
func (f *Fake) FailBy(choose func(method, path string) *Fault) {
	f.change(func() { f.choose = choose })
}

// takeFault gives the fault of a request.
func (f *Fake) takeFault(r *http.Request) (met Fault) {
	choose := locked(f, func() func(method, path string) *Fault {
		for i, fault := range f.faults {
			if (fault.Method == "" || fault.Method == r.Method) && strings.Contains(r.URL.Path, fault.Path) {
				f.faults = append(f.faults[:i:i], f.faults[i+1:]...)
				return func(string, string) *Fault { return &fault }
			}
		}
		return f.choose
	})
	if choose != nil {
		if fault := choose(r.Method, r.URL.Path); fault != nil {
			met = *fault
		}
	}
	return met
}

// wait passes the time of a fault. It reports false where the fake ends first.
func (f *Fake) wait(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-f.closing:
		return false
	}
}

// Late counts the requests whose connections have died and which have yet to take effect.
func (f *Fake) Late() int64 { return f.late.Load() }

// drop ends the connection without an answer.
func drop() { panic(http.ErrAbortHandler) }
