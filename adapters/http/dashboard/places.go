package dashboard

import (
	"sync"
	"time"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
)

// Bounds of forms with files, and of exports: both take a place for as long as a browser likes (pages.md, "Files of a
// deposit").
const (
	placesAtOnce = 8 // of a process, of each kind; an account has one
	placeRetry   = 10 * time.Second
)

// errSecond refuses what an account begins beside another of its kind.
var errSecond = fault.New(fault.RateLimited, "one_at_a_time",
	"An account sends one form with files and reads one export at a time.")

// places are held by accounts, one each.
type places struct {
	mu   sync.Mutex
	most int
	held map[id.ID]bool
	busy error // answers where every place is taken
}

func newPlaces(most int, busy error) *places {
	return &places{most: most, held: map[id.ID]bool{}, busy: busy}
}

// enter takes the place of the account; leave gives it back, and may be called again. Returns errSecond, or the error
// of a busy process.
func (p *places) enter(account id.ID) (leave func(), err error) {
	p.mu.Lock()
	defer p.mu.Unlock()
	switch {
	case p.held[account]:
		return nil, errSecond.WithRetryAfter(placeRetry)
	case len(p.held) >= p.most:
		return nil, p.busy
	}
	p.held[account] = true
	return sync.OnceFunc(func() {
		p.mu.Lock()
		defer p.mu.Unlock()
		delete(p.held, account)
	}), nil
}

func (p *places) taken() int {
	p.mu.Lock()
	defer p.mu.Unlock()
	return len(p.held)
}

var errExports = fault.ErrUnavailable.WithRetryAfter(placeRetry)

const (
	uploadTime = 120 * time.Second // for the caller to send a form with files
)

// Refusals of forms with files. The pages explain them.
var (
	errFormTooLarge = fault.New(fault.TooLarge, "files_too_large", "A form with files has 25 MB at most.")
	errBusy         = fault.New(fault.Unavailable, "uploads_busy", "Too many files are being sent at this moment.")
	errSlow         = fault.New(fault.Invalid, "upload_too_slow", "The files did not arrive in time.")
)

// Uploads bounds the forms with files that a process reads at a time.
type Uploads struct {
	places  *places
	readFor time.Duration
}

// NewUploads makes a bound. readFor is the time for the caller to send a form.
func NewUploads(most int, readFor time.Duration) *Uploads {
	return &Uploads{newPlaces(most, errBusy), readFor}
}

// Reading is the number of forms with files that are being read.
func (u *Uploads) Reading() int { return u.places.taken() }
