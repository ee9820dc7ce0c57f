package stripetest

import (
	"net/http"
	"strings"
	"time"
)

// FaultKind is a way in which a request to the fake of Stripe fails.
type FaultKind string

// The kinds of faults that a request to the fake of Stripe can meet.
const (
	FaultLostBeforeEffect FaultKind = "lost_before" // Fault: the connection dies, and nothing happens.
	FaultLostAfterEffect  FaultKind = "lost_after"  // Fault: the request takes effect, and the connection dies.
	// Fault: the connection dies, and the request takes effect after Delay.
	FaultLateEffect FaultKind = "late"
	// Fault: the request waits for Delay, holding its key, and is then answered.
	FaultDelayedResponse    FaultKind = "delayed"
	FaultHang               FaultKind = "hang"        // Fault: there is no answer and no effect until the caller gives up.
	FaultErrorWithoutEffect FaultKind = "broken"      // Fault: the answer is 500 without effect, stored under the key.
	FaultErrorAfterEffect   FaultKind = "broken_done" // Fault: the answer is 500 after the effect, stored under the key.
	FaultDuplicateRequest   FaultKind = "doubled"     // Fault: the request arrives twice, and the second answer is sent.
	FaultTooManyRequests    FaultKind = "overloaded"  // Fault: the answer is 429.
	FaultUnavailable        FaultKind = "unready"     // Fault: the answer is 503 without effect, not stored.
	FaultBadRequest         FaultKind = "refused"     // Fault: the answer is 400 without effect, not stored.
)

// Fault is a planned failure of a request to the fake of Stripe. The zero value is no failure.
type Fault struct {
	Kind FaultKind
	// HTTP method of the requests that the fault may hit; "": any.
	Method string
	// A part of the path of the requests that the fault may hit, such as "/confirm"; "": any.
	Path  string
	Delay time.Duration
}

// FailNextRequests makes the next requests to the fake fail. Each fault occurs once, at the first request that it fits.
func (f *Fake) FailNextRequests(faults ...Fault) {
	f.change(func() { f.faults = append(f.faults, faults...) })
}

// SetFaultChooser sets a function that chooses the fault of every request to the fake; nil ends this. The function may
// be called from several goroutines.
func (f *Fake) SetFaultChooser(choose func(method, path string) *Fault) {
	f.change(func() { f.choose = choose })
}

// takeFault returns the fault that a test has planned for a request, or the zero value.
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

// wait waits for the duration of a fault. true: the time has passed; false: the fake was closed before.
func (f *Fake) wait(d time.Duration) bool {
	select {
	case <-time.After(d):
		return true
	case <-f.closing:
		return false
	}
}

// LateRequestCount returns the number of requests whose connections have died and which have not yet taken effect.
func (f *Fake) LateRequestCount() int64 { return f.late.Load() }

// drop ends the connection of a request without an answer.
func drop() { panic(http.ErrAbortHandler) }
