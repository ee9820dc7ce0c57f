package deposits

import (
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	depositports "partnerdeposits/ports/deposits"
)

// Act is an act of an operator on a deposit, such as a capture. Its text begins the fingerprint of the act's
// form.
type Act string

const (
	ActCapture  Act = "capture"
	ActRelease  Act = "release"
	ActCancel   Act = "cancel"
	ActSendLink Act = "send_link"
	ActAddFiles Act = "add_files"

	ActRemind   Act = "remind"            // ActRemind mails the tenant the link to pay the debt again.
	ActSettled  Act = "settled_elsewhere" // ActSettled ends the debt, since the tenant paid by other means.
	ActWithdraw Act = "withdraw_claim"
)

// Acts lists every act of an operator on a deposit.
var Acts = []Act{ActCapture, ActRelease, ActCancel, ActSendLink, ActAddFiles, ActRemind, ActSettled, ActWithdraw}

// NeedsVerified reports whether only operators with a verified address may do the act. true: the act charges
// or mails a tenant, so its author must be reachable; false: any other act.
func (a Act) NeedsVerified() bool { return a == ActCapture || a == ActSendLink || a == ActRemind }

// Possible checks whether an operator can do the act on the deposit now, before the page that asks for
// confirmation. debt is the debt of a captured deposit; nil for any other.
//
// Returns deposit_not_capturable, deposit_not_releasable, deposit_not_cancellable, deposit_not_sendable,
// ErrNoFiles, or the errors of Debt.Remindable, Debt.Endable and deposit.ErrNobodyToRemind.
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

// ErrNoFiles is the error for files that are added to a deposit that no tenant has secured.
var ErrNoFiles = fault.New(fault.Conflict, "deposit_takes_no_files",
	"Files can be added to a deposit that is secured or captured.")

// TakesFiles returns ErrNoFiles for a deposit that is not secured yet, and for one that ended without a
// capture.
func TakesFiles(d *deposit.Deposit) error {
	if d.Status != deposit.Active && d.Status != deposit.Captured {
		return ErrNoFiles
	}
	return nil
}

// FilesToAdd lists uploaded files that wait to be added to a deposit, with the operator who sent them.
type FilesToAdd struct {
	From depositports.FileSender
	IDs  []id.ID
}
