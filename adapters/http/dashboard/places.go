package dashboard

import (
	"context"
	"time"

	"partnerdeposits/adapters/http/middleware"
	"partnerdeposits/core/evidence"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
)

// Limits on forms with files, and on exports (pages.md, "Files of a deposit"). A place (permission to clean a
// form's files or read a page of an export) is held only while the service works; bytes that browsers send and
// receive have a limit of their own.
const (
	// The most forms cleaned, or export pages read, at once in the process: one per account, and one reserved for
	// accounts that had none recently.
	placesAtOnce = 8
	placeRetry   = 10 * time.Second
	cleanWait    = 30 * time.Second // Longest wait of a form for the cleaning of its files.
	exportWait   = 5 * time.Second  // Longest wait of an export for the read of its next page.

	// The most bytes in the process: of received files, or of exports being sent.
	bytesAtOnce = 1 << 30
	// The most bytes of an account: of received files, or of exports being sent.
	bytesOfOne = evidence.MaxFormSize
	// Least number of bytes that a form with files counts against limits.
	leastForm = 1 << 20
	// Bytes that an export counts against the limits, as it holds a page of lines.
	exportCounts = 5 << 20

	uploadTime = 120 * time.Second // Longest time for a browser to send a form with files.
)

// Faults for forms with files and exports that a limit refused.
var (
	errSecond = fault.New(fault.RateLimited, "one_at_a_time",
		"An account sends 25 MB of files and reads five exports at a time.")
	errExports      = fault.ErrUnavailable.WithRetryAfter(placeRetry)
	errFormTooLarge = fault.New(fault.TooLarge, "files_too_large", "A form with files has 25 MB at most.")
	errBusy         = fault.New(fault.Unavailable, "uploads_busy", "Too many files are being sent at this moment.")
	errSlow         = fault.New(fault.Invalid, "upload_too_slow", "The files did not arrive in time.")
)

// works limits exports or forms with files: how many are processed at once, and the bytes that browsers send or
// receive for them.
type works struct{ bytes, places middleware.ResourceBudget }

func newWorks(places, bytes int, busy error) *works {
	second := errSecond.WithRetryAfter(placeRetry)
	return &works{
		bytes:  middleware.ResourceBudget{Most: bytes, Each: bytesOfOne, Kept: bytesOfOne, Full: busy, Enough: second},
		places: middleware.ResourceBudget{Most: places, Each: 1, Kept: 1, Full: busy, Enough: busy},
	}
}

// enter waits for permission to clean an account's form files or read a page of its export.
func (w *works) enter(ctx context.Context, account id.ID, wait time.Duration) (*middleware.BudgetPart, error) {
	ctx, cancel := context.WithTimeout(ctx, wait)
	defer cancel()
	return w.places.Acquire(ctx, account, 1, 1)
}

// UploadLimits limits how many forms with files, and how many bytes of them, the process handles at once.
type UploadLimits struct {
	*works
	readFor time.Duration
}

// NewUploadLimits limits forms with files: how many are cleaned at once, their bytes on disk, and the time to send
// a form.
func NewUploadLimits(places, bytes int, readFor time.Duration) *UploadLimits {
	return &UploadLimits{newWorks(places, bytes, errBusy), readFor}
}

// InFlight counts the forms with files that are being received or cleaned.
func (u *UploadLimits) InFlight() int { return u.bytes.PartsHeld() }
