package signin

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/mailaddr"
	accountports "partnerdeposits/ports/accounts"
	ports "partnerdeposits/ports/platform"
)

// failuresPerHour is the number of failed log-ins with an address after which only known networks may try
// (api.md §1, "Rate limits").
const failuresPerHour = 100

// countFailure counts a log-in as failed before its password is checked, so that parallel attempts cannot exceed
// the limit; harmless takes the count back. o is zero for an unknown e-mail.
//
// Returns rate_limited when the limit is reached, unless the network is known.
func (au Authenticator) countFailure(
	ctx context.Context, email string, o connect.Operator, known bool, now time.Time,
) (harmless func(), err error) {
	sum := sha256.Sum256([]byte(mailaddr.Normalized(email) + " " + o.PasswordHash))
	rule := ports.LimitRule{Name: "auth-failures", Key: "auth:email:" + hex.EncodeToString(sum[:16]),
		PerHour: failuresPerHour}
	decision := au.Limiter.Allow(ctx, rule)
	if decision.Allowed {
		return func() { au.Limiter.Uncount(ctx, rule) }, nil
	}
	refused := lockedOut(decision, known)
	if refused != nil {
		if err := au.tellLockedOut(ctx, email, rule.Key, now); err != nil {
			return nil, err
		}
	}
	return func() {}, refused
}

// tellLockedOut requests a mail about locked log-ins, with a link that sets a password, at most once an hour. The
// dispatcher later checks whether the address is known, so that each log-in takes the same time.
func (au Authenticator) tellLockedOut(ctx context.Context, email, key string, now time.Time) error {
	once := ports.LimitRule{Name: "auth-locked-out", Key: key, PerHour: 1}
	if !mailaddr.Valid(email) || !au.Limiter.Allow(ctx, once).Allowed {
		return nil
	}
	r := accountports.PasswordResetRequest{ID: au.Entropy.NewID(), Email: email, CreatedAt: now, LockedOut: true}
	return au.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		return au.Requests.InsertPasswordResetRequest(ctx, r)
	})
}

// lockedOut returns rate_limited for a log-in beyond the limit of failures, unless its network is known.
func lockedOut(decision ports.LimitDecision, known bool) error {
	if decision.Allowed || known {
		return nil
	}
	return fault.ErrRateLimited.WithRetryAfter(decision.RetryAfter)
}
