package deposits

import (
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	depositports "partnerdeposits/ports/deposits"
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

	ActRemind   Act = "remind"            // mails the tenant the link to pay the debt again
	ActSettled  Act = "settled_elsewhere" // ends the debt: the tenant paid by other means
	ActWithdraw Act = "withdraw_claim"
)

// Acts lists every act.
var Acts = []Act{ActCapture, ActRelease, ActCancel, ActSendLink, ActAddFiles, ActRemind, ActSettled, ActWithdraw}

// NeedsVerified reports whether the act charges or mails a tenant: its author must be somebody who can be reached.
func (a Act) NeedsVerified() bool { return a == ActCapture || a == ActSendLink || a == ActRemind }

// Possible tells whether the act is possible on the deposit now, before the operator is asked once more. debt is that
// of a captured deposit; nil for any other.
//
// Returns deposit_not_capturable, deposit_not_releasable, deposit_not_cancellable, deposit_not_sendable, ErrNoFiles,
// or the errors of Debt.Remindable, Debt.Endable and deposit.ErrNobodyToRemind.
func (a Act) Possible(d *deposit.Deposit, debt *deposit.Debt, now time.Time) error {
	switch a {
	case ActCapture:
		return d.Allows(deposit.CaptureRequested, now)
	case ActRelease:
		return d.Allows(deposit.Released, now)
	case ActCancel:
		return d.Allows(deposit.CancelledByOperator, now)
	case ActAddFiles:
		return TakesFiles(d)
	case ActRemind, ActSettled, ActWithdraw:
		return a.possibleOnDebt(d, debt, now)
	case ActSendLink:
	}
	return d.Sendable(now)
}

func (a Act) possibleOnDebt(d *deposit.Deposit, debt *deposit.Debt, now time.Time) error {
	switch {
	case debt == nil:
		return deposit.ErrCollectionNotPayable
	case a != ActRemind:
		return debt.Endable()
	case debt.Endable() == nil && d.Client == nil:
		return deposit.ErrNobodyToRemind
	}
	return debt.Remindable(now)
}

// ErrNoFiles refuses files for a deposit that no tenant has secured.
var ErrNoFiles = fault.New(fault.Conflict, "deposit_takes_no_files",
	"Files can be added to a deposit that is secured or captured.")

// TakesFiles refuses files for a deposit before it is secured, and after it ended without a capture.
func TakesFiles(d *deposit.Deposit) error {
	if d.Status != deposit.Active && d.Status != deposit.Captured {
		return ErrNoFiles
	}
	return nil
}

// FilesToAdd names waiting files.
type FilesToAdd struct {
	From depositports.FileSender
	IDs  []id.ID
}
