package signin

import (
	"context"
	"errors"
	"strconv"
	"time"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/app/platform/mails"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/twofactor"
	accountports "partnerdeposits/ports/accounts"
	ports "partnerdeposits/ports/platform"
)

// TwoFactorCodes checks operators' two-factor codes, each of which is accepted once.
type TwoFactorCodes struct {
	UnitOfWork   ports.UnitOfWork
	Sessions     accountports.SessionStore
	TwoFactors   accountports.TwoFactorStore
	HalfSignIns  accountports.HalfSignInStore
	Mails        ports.MailQueue
	Audit        ports.AuditLog
	Codes        accountports.OneTimeCodes
	Entropy      ports.Entropy
	DashboardURL string
}

// allNetworks is the key under which tries of two-factor codes from all networks are counted together.
var allNetworks [32]byte

// LimitTries counts a try of a two-factor code and then runs use. The count is committed first, so that parallel
// tries cannot exceed the limit, and taken back unless use returns twofactor.ErrWrongCode.
//
// Returns twofactor.ErrTooManyCodes, and the errors of use.
func (c TwoFactorCodes) LimitTries(ctx context.Context, o connect.Operator, from Browser, now time.Time,
	use func() error) error {
	network := networkHash(o, from.Network)
	known := false
	if from.Network != "" {
		var err error
		if known, err = c.Sessions.NetworkKnown(ctx, o.ID, network, now); err != nil {
			return err
		}
	}
	var wait time.Duration
	err := c.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		tries, since, err := c.HalfSignIns.CountCodeTry(ctx, o.ID, network, twofactor.NetworkTriesWindow, now)
		if err != nil {
			return err
		}
		if wait = twofactor.NetworkLockoutWait(tries, since, now); wait > 0 {
			return nil
		}
		tries, since, err = c.HalfSignIns.CountCodeTry(ctx, o.ID, allNetworks, twofactor.OverallTriesWindow, now)
		wait = twofactor.OverallLockoutWait(tries, known, since, now)
		return err
	})
	if err != nil {
		return err
	}
	if wait > 0 {
		return twofactor.ErrTooManyCodes.WithRetryAfter(wait)
	}
	err = use()
	if costs(err) {
		return err
	}
	// If taking back a try of a code fails, the operator has one try less in this hour.
	_ = c.UnitOfWork.WithinTx(context.WithoutCancel(ctx), func(ctx context.Context) error {
		if err := c.HalfSignIns.UncountCodeTry(ctx, o.ID, network); err != nil {
			return err
		}
		return c.HalfSignIns.UncountCodeTry(ctx, o.ID, allNetworks)
	})
	return err
}

// costs reports whether a try of a two-factor code counts towards the limit: only a wrong code does.
func costs(err error) bool { return errors.Is(err, twofactor.ErrWrongCode) }

func (c TwoFactorCodes) Enabled(ctx context.Context, operatorID id.ID) (bool, error) {
	f, err := c.TwoFactors.StateOf(ctx, operatorID)
	return f.On, err
}

// Accept uses up a two-factor code of the operator, in the transaction of the change that it allows. required is
// false, and the code not checked, where codes are off.
//
// Returns twofactor.ErrWrongCode.
func (c TwoFactorCodes) Accept(ctx context.Context, o connect.Operator, code string, now time.Time) (required bool,
	err error) {
	f, err := c.TwoFactors.LockRow(ctx, o.ID)
	if err != nil || !f.Enabled() {
		return false, err
	}
	if hash, ok := twofactor.RecoveryCodeHash(o.ID, code); ok {
		return true, c.useRecovery(ctx, o, hash, now)
	}
	if err := f.AcceptCode(code, now, c.Codes.Code); err != nil {
		return true, err
	}
	return true, c.TwoFactors.Save(ctx, *f)
}

// useRecovery uses up a recovery code, and mails the operator about it.
func (c TwoFactorCodes) useRecovery(ctx context.Context, o connect.Operator, hash [32]byte, now time.Time) error {
	used, err := c.TwoFactors.UseRecoveryCode(ctx, o.ID, hash, now)
	if err != nil {
		return err
	}
	if !used {
		return twofactor.ErrWrongCode
	}
	return c.NotifyOfChange(ctx, o, mails.RecoveryCodeUsed, now)
}

var verbs = map[mails.TwoFactorChange]audit.Action{
	mails.TwoFactorOn: audit.OperatorEnableTOTP, mails.TwoFactorOff: audit.OperatorDisableTOTP,
	mails.TwoFactorOffBySupport: audit.OperatorResetTOTP, mails.RecoveryCodesReplaced: audit.OperatorReplaceRecoveryCodes,
	mails.RecoveryCodeUsed: audit.OperatorUseRecoveryCode,
}

// NotifyOfChange mails a change of the second factor to the operator, and writes the audit log.
func (c TwoFactorCodes) NotifyOfChange(ctx context.Context, o connect.Operator, what mails.TwoFactorChange,
	now time.Time) error {
	mail := mails.TwoFactorNotice{Operator: o, Change: what, DashboardURL: c.DashboardURL}.Mail(c.Entropy.NewID(), now)
	if err := c.Mails.Enqueue(ctx, mail); err != nil {
		return err
	}
	by := o.Actor()
	if what == mails.TwoFactorOffBySupport {
		by = actor.Staff
	}
	return c.Audit.Append(ctx, audit.NewEntry(c.Entropy, now, by, verbs[what], id.Operator.Of(o.ID), nil))
}

func (c TwoFactorCodes) ReplaceRecoveryCodes(ctx context.Context, operatorID id.ID) ([]secret.Text, error) {
	codes := make([]secret.Text, twofactor.RecoveryCodeCount)
	hashes := make([][32]byte, len(codes))
	for i := range codes {
		codes[i] = twofactor.NewRecoveryCode(c.Entropy.Bytes(twofactor.RecoveryCodeBytes))
		hash, ok := twofactor.RecoveryCodeHash(operatorID, codes[i].Reveal())
		if !ok {
			return nil, errors.New("signin: recovery code " + strconv.Itoa(i) + " cannot be read")
		}
		hashes[i] = hash
	}
	return codes, c.TwoFactors.ReplaceRecoveryCodes(ctx, operatorID, hashes)
}
