package dashboard

import (
	"context"
	"time"

	"partnerdeposits/adapters/http/middleware"
	"partnerdeposits/core/evidence"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
)

// Limits on forms with files, and separately on exports (pages.md, "Files of a deposit"). A place (the permission
// to clean the files of a form, or to read a page of an export) is held only while the service itself works. The
// bytes that browsers send and receive, possibly slowly, have a limit of their own.
const (
	// The most forms whose files are cleaned, or export pages that are read, at the same time in the process. An
	// account may have one of them, and one is reserved for accounts that had none recently.
	placesAtOnce = 8
	placeRetry   = 10 * time.Second
	cleanWait    = 30 * time.Second // Longest wait of a form whose files have arrived until they are cleaned.
	exportWait   = 5 * time.Second  // Longest wait of an export until its next page is read.

	// The most bytes in the process: of received files, or of exports that are being sent.
	bytesAtOnce = 1 << 30
	// The most bytes of an account: of received files, or of exports that are being sent.
	bytesOfOne = evidence.MaxFormSize
	// Least number of bytes that a form with files counts against its account's limit.
	leastForm = 1 << 20
	// Number of bytes that an export counts against the limits, since it holds a page of lines in memory.
	exportCounts = 5 << 20

	uploadTime = 120 * time.Second // Longest time for a browser to send a form with files.
)

// Faults for forms with files and exports that were refused because of a limit. The pages have texts for them.
var (
	errSecond = fault.New(fault.RateLimited, "one_at_a_time",
		"An account sends 25 MB of files and reads five exports at a time.")
	errExports      = fault.ErrUnavailable.WithRetryAfter(placeRetry)
	errFormTooLarge = fault.New(fault.TooLarge, "files_too_large", "A form with files has 25 MB at most.")
	errBusy         = fault.New(fault.Unavailable, "uploads_busy", "Too many files are being sent at this moment.")
	errSlow         = fault.New(fault.Invalid, "upload_too_slow", "The files did not arrive in time.")
)

// works limits one kind of work of the process, exports or forms with files: how many are done at once, and the
// bytes that browsers are sending or receiving for it.
type works struct{ bytes, places middleware.ResourceBudget }

func newWorks(places, bytes int, busy error) *works {
	second := errSecond.WithRetryAfter(placeRetry)
	return &works{
		bytes:  middleware.ResourceBudget{Most: bytes, Each: bytesOfOne, Kept: bytesOfOne, Full: busy, Enough: second},
		places: middleware.ResourceBudget{Most: places, Each: 1, Kept: 1, Full: busy, Enough: busy},
	}
}

// enter waits for permission to do one piece of work for the account: to clean the files of a form, or to read a
// page of an export.
func (w *works) enter(ctx context.Context, account id.ID, wait time.Duration) (*middleware.BudgetPart, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	return w.places.Acquire(ctx, account, 1, 1)
}

// UploadLimits limits how many forms with files, and of how many bytes, the process handles at the same time.
type UploadLimits struct {
	*works
	readFor time.Duration
}

// NewUploadLimits returns the limits on forms with files: how many are cleaned at once, how many bytes their files may
// have on the disk, and how long a browser may take to send a form.
func NewUploadLimits(places, bytes int, readFor time.Duration) *UploadLimits {
	return &UploadLimits{newWorks(places, bytes, errBusy), readFor}
}

// InFlight returns the number of forms with files that are being received or cleaned.
func (u *UploadLimits) InFlight() int { return u.bytes.PartsHeld() }
