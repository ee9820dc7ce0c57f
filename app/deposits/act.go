package deposits

import (
	"time"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	depositports "partnerdeposits/ports/deposits"
)

// OperatorAct is an act of an operator on a deposit, such as a capture; its name is part of the form's fingerprint.
type OperatorAct string

const (
	ActCapture  OperatorAct = "capture"
	ActRelease  OperatorAct = "release"
	ActCancel   OperatorAct = "cancel"
	ActSendLink OperatorAct = "send_link"
	ActAddFiles OperatorAct = "add_files"

	ActRemind OperatorAct = "remind"
	// ActMarkSettledElsewhere ends a debt that the tenant paid by other means.
	ActMarkSettledElsewhere OperatorAct = "settled_elsewhere"
	ActWithdrawClaim        OperatorAct = "withdraw_claim"
)

var OperatorActs = []OperatorAct{ActCapture, ActRelease, ActCancel, ActSendLink, ActAddFiles, ActRemind,
	ActMarkSettledElsewhere, ActWithdrawClaim}

// NeedsVerifiedEmail reports whether an act charges or mails a tenant, so that its author must be reachable.
func (a OperatorAct) NeedsVerifiedEmail() bool {
	return a == ActCapture || a == ActSendLink || a == ActRemind
}

// CheckPossible checks whether an operator can do the act on the deposit now. debt is nil unless the deposit is
// captured.
//
// Returns deposit_not_capturable, deposit_not_releasable, deposit_not_cancellable, deposit_not_sendable,
// ErrTakesNoFiles, deposit.ErrNobodyToRemind, or another reason from the debt.
func (a OperatorAct) CheckPossible(d *deposit.Deposit, debt *deposit.Debt, now time.Time) error {
	switch a {
	case ActCapture:
		return d.CheckTrigger(deposit.TriggerCaptureRequested, now)
	case ActRelease:
		return d.CheckTrigger(deposit.TriggerReleased, now)
	case ActCancel:
		return d.CheckTrigger(deposit.TriggerCancelledByOperator, now)
	case ActAddFiles:
		return CheckTakesFiles(d)
	case ActRemind, ActMarkSettledElsewhere, ActWithdrawClaim:
		return a.possibleOnDebt(d, debt, now)
	case ActSendLink:
	}
	return d.CheckLinkSendable(now)
}

func (a OperatorAct) possibleOnDebt(d *deposit.Deposit, debt *deposit.Debt, now time.Time) error {
	switch {
	case debt == nil:
		return deposit.ErrCollectionNotPayable
	case a != ActRemind:
		return debt.CheckEndable()
	case debt.CheckEndable() == nil && d.Client == nil:
		return deposit.ErrNobodyToRemind
	}
	return debt.CheckRemindable(now)
}

// ErrTakesNoFiles is the error for files of a deposit that is not secured.
var ErrTakesNoFiles = fault.New(fault.Conflict, "deposit_takes_no_files",
	"Files can be added to a deposit that is secured or captured.")

// CheckTakesFiles returns ErrTakesNoFiles for a deposit that is not secured yet or ended without a capture.
func CheckTakesFiles(d *deposit.Deposit) error {
	if d.Status != deposit.Active && d.Status != deposit.Captured {
		return ErrTakesNoFiles
	}
	return nil
}

// FilesToAdd lists uploaded files that wait to be added to a deposit.
type FilesToAdd struct {
	From depositports.UploadSession
	IDs  []id.ID
}
