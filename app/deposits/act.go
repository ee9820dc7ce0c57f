package deposits

import (
	"time"

	"partnerdeposits/core/deposit"
)

// Act is an act of an operator on a deposit. Its text begins the fingerprint of the act's form.
type Act string

// The acts.
const (
	ActCapture  Act = "capture"
	ActRelease  Act = "release"
	ActCancel   Act = "cancel"
	ActSendLink Act = "send_link"
	ActAddFiles Act = "add_files"
)

// Acts lists every act.
var Acts = []Act{ActCapture, ActRelease, ActCancel, ActSendLink, ActAddFiles}

// NeedsVerified reports whether the act charges or mails a tenant: its author must be somebody who can be reached.
func (a Act) NeedsVerified() bool { return a == ActCapture || a == ActSendLink }

// Possible tells whether the act is possible on the deposit now, before the operator is asked once more.
//
// Returns deposit_not_capturable, deposit_not_releasable, deposit_not_cancellable, deposit_not_sendable or ErrNoFiles.
func (a Act) Possible(d *deposit.Deposit, now time.Time) error {
	switch a {
	case ActCapture:
		return d.Allows(deposit.CaptureRequested, now)
	case ActRelease:
		return d.Allows(deposit.Released, now)
	case ActCancel:
		return d.Allows(deposit.CancelledByOperator, now)
	case ActAddFiles:
		return TakesFiles(d)
	case ActSendLink:
	}
	return d.Sendable(now)
}
