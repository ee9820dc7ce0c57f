package dashboard

import (
	"context"
	"time"

	"partnerdeposits/adapters/http/middleware"
	"partnerdeposits/core/evidence"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
)

// Bounds of forms with files, and of exports, each with its own (pages.md, "Files of a deposit"). A place is held for
// the work, which a browser cannot make long: to clean the files of a form, and to read a page of an export. The bytes
// that browsers send and take, as slowly as they like, have a bound instead.
const (
	placesAtOnce = 8 // of a process; an account has one, and one is left to accounts that had none lately
	placeRetry   = 10 * time.Second
	cleanWait    = 30 * time.Second // for a place to clean files that are here already
	exportWait   = 5 * time.Second  // for a place to read a page of an export

	bytesAtOnce  = 1 << 30          // of a process
	bytesOfOne   = evidence.MaxForm // of an account
	leastForm    = 1 << 20          // bytes as which a small form counts for its account
	exportCounts = 5 << 20          // bytes as which an export counts, which holds a page of lines in memory

	uploadTime = 120 * time.Second // for the caller to send a form with files
)

// Refusals. The pages explain them.
var (
	errSecond = fault.New(fault.RateLimited, "one_at_a_time",
		"An account sends 25 MB of files and reads five exports at a time.")
	errExports      = fault.ErrUnavailable.WithRetryAfter(placeRetry)
	errFormTooLarge = fault.New(fault.TooLarge, "files_too_large", "A form with files has 25 MB at most.")
	errBusy         = fault.New(fault.Unavailable, "uploads_busy", "Too many files are being sent at this moment.")
	errSlow         = fault.New(fault.Invalid, "upload_too_slow", "The files did not arrive in time.")
)

// works bounds a kind of work of a process, and the bytes of it that are on their way.
type works struct{ bytes, places middleware.Budget }

func newWorks(places, bytes int, busy error) *works {
	second := errSecond.WithRetryAfter(placeRetry)
	return &works{
		bytes:  middleware.Budget{Most: bytes, Each: bytesOfOne, Kept: bytesOfOne, Full: busy, Enough: second},
		places: middleware.Budget{Most: places, Each: 1, Kept: 1, Full: busy, Enough: busy},
	}
}

// enter takes a place for the account, and waits for it.
func (w *works) enter(ctx context.Context, account id.ID, wait time.Duration) (*middleware.Hold, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	return w.places.Wait(ctx, account, 1, 1)
}

// Uploads bounds the forms with files that a process takes at a time.
type Uploads struct {
	*works
	readFor time.Duration
}

// NewUploads makes a bound: the forms whose files are cleaned at once, the bytes of files on the disk, and the time for
// the caller to send a form.
func NewUploads(places, bytes int, readFor time.Duration) *Uploads {
	return &Uploads{newWorks(places, bytes, errBusy), readFor}
}

// Reading is the number of forms with files that are being read or cleaned.
func (u *Uploads) Reading() int { return u.bytes.Holds() }
