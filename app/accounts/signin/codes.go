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

// Codes checks the codes of operators: of their app, and recovery codes. Each code counts once.
type Codes struct {
	UnitOfWork   ports.UnitOfWork
	Sessions     accountports.Sessions
	TwoFactors   accountports.TwoFactors
	HalfSignIns  accountports.HalfSignIns
	Mails        ports.Mails
	Audit        ports.AuditLog
	Codes        accountports.OneTimeCodes
	Entropy      ports.Entropy
	DashboardURL string
}

// allNetworks is the key of the tries from every network together.
var allNetworks [32]byte

// Guard counts a try of a code and runs use, which calls Accept. The try is counted, and committed, before use: tries
// at the same time cannot pass the bound together. A try that did not end in twofactor.ErrWrongCode is taken back.
//
// Returns twofactor.ErrTooManyCodes, and the errors of use.
func (c Codes) Guard(ctx context.Context, o connect.Operator, from Browser, now time.Time, use func() error) error {
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
		tries, since, err := c.HalfSignIns.CountTry(ctx, o.ID, network, twofactor.NetworkWindow, now)
		if err != nil {
			return err
		}
		if wait = twofactor.NetworkWait(tries, since, now); wait > 0 {
			return nil
		}
		tries, since, err = c.HalfSignIns.CountTry(ctx, o.ID, allNetworks, twofactor.AllWindow, now)
		wait = twofactor.AllWait(tries, known, since, now)
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
	// A refund that is lost costs a try until the window is over.
	_ = c.UnitOfWork.WithinTx(context.WithoutCancel(ctx), func(ctx context.Context) error {
		if err := c.HalfSignIns.RefundTry(ctx, o.ID, network); err != nil {
			return err
		}
		return c.HalfSignIns.RefundTry(ctx, o.ID, allNetworks)
	})
	return err
}

// costs reports whether a try that ended in err counts: a wrong code alone does.
func costs(err error) bool { return errors.Is(err, twofactor.ErrWrongCode) }

// On reports whether an operator's codes are on.
func (c Codes) On(ctx context.Context, operatorID id.ID) (bool, error) {
	f, err := c.TwoFactors.TwoFactor(ctx, operatorID)
	return f.On, err
}

// Accept uses up a code of the operator, in the transaction of the effect that the code allows. required is false for
// an operator whose codes are off: then no code is looked at.
//
// Returns twofactor.ErrWrongCode.
func (c Codes) Accept(ctx context.Context, o connect.Operator, code string, now time.Time) (required bool, err error) {
	f, err := c.TwoFactors.Lock(ctx, o.ID)
	if err != nil || !f.On() {
		return false, err
	}
	if hash, ok := twofactor.RecoveryHash(o.ID, code); ok {
		return true, c.useRecovery(ctx, o, hash, now)
	}
	if err := f.Accept(code, now, c.Codes.Code); err != nil {
		return true, err
	}
	return true, c.TwoFactors.Save(ctx, *f)
}

// useRecovery uses a recovery code up, and tells the operator.
func (c Codes) useRecovery(ctx context.Context, o connect.Operator, hash [32]byte, now time.Time) error {
	used, err := c.TwoFactors.UseRecoveryCode(ctx, o.ID, hash, now)
	if err != nil {
		return err
	}
	if !used {
		return twofactor.ErrWrongCode
	}
	return c.Tell(ctx, o, mails.RecoveryCodeUsed, now)
}

// verbs are the changes of the second factor in the audit log.
var verbs = map[mails.TwoFactorChange]audit.Verb{
	mails.TwoFactorOn: audit.OperatorEnableTOTP, mails.TwoFactorOff: audit.OperatorDisableTOTP,
	mails.TwoFactorOffBySupport: audit.OperatorResetTOTP, mails.NewRecoveryCodes: audit.OperatorNewRecoveryCodes,
	mails.RecoveryCodeUsed: audit.OperatorUseRecoveryCode,
}

// Tell mails the operator a change of the second factor, and writes it to the audit log.
func (c Codes) Tell(ctx context.Context, o connect.Operator, what mails.TwoFactorChange, now time.Time) error {
	mail := mails.TwoFactor{Operator: o, Change: what, DashboardURL: c.DashboardURL}.Mail(c.Entropy.NewID(), now)
	if err := c.Mails.Enqueue(ctx, mail); err != nil {
		return err
	}
	by := o.Actor()
	if what == mails.TwoFactorOffBySupport {
		by = actor.Staff
	}
	return c.Audit.Append(ctx, audit.Entry(c.Entropy, now, by, verbs[what], id.Operator.Of(o.ID), nil))
}

// NewRecoveryCodes replaces the recovery codes of an operator, and gives the new ones in clear.
func (c Codes) NewRecoveryCodes(ctx context.Context, operatorID id.ID) ([]secret.Text, error) {
	codes := make([]secret.Text, twofactor.RecoveryCodes)
	hashes := make([][32]byte, len(codes))
	for i := range codes {
		codes[i] = twofactor.NewRecoveryCode(c.Entropy.Bytes(twofactor.RecoveryBytes))
		hash, ok := twofactor.RecoveryHash(operatorID, codes[i].Reveal())
		if !ok {
			return nil, errors.New("signin: recovery code " + strconv.Itoa(i) + " cannot be read")
		}
		hashes[i] = hash
	}
	return codes, c.TwoFactors.ReplaceRecoveryCodes(ctx, operatorID, hashes)
}
