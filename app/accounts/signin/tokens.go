package signin

import (
	"context"
	"net/url"
	"time"

	"partnerdeposits/app/platform/mails"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/site"
	accountports "partnerdeposits/ports/accounts"
	ports "partnerdeposits/ports/platform"
)

// MailTokens creates and mails the links that verify addresses and set passwords.
type MailTokens struct {
	Tokens       accountports.MailTokenStore
	Mails        ports.MailQueue
	Entropy      ports.Entropy
	DashboardURL string // The setting DASHBOARD_BASE_URL.
	// Verify reports whether mails can be sent, so that operators must verify their addresses.
	Verify bool
}

// tokenPaths maps each kind of mail token to its page.
var tokenPaths = map[connect.TokenKind]string{
	connect.TokenVerifyEmail: site.VerifyEmailPath, connect.TokenChangeEmail: site.VerifyEmailPath,
	connect.TokenResetPassword: site.ResetPasswordPath,
}

// HasUnverifiedEmail reports whether the operator's address must still be verified; false when the service verifies
// none.
func (k MailTokens) HasUnverifiedEmail(o connect.Operator) bool {
	return k.Verify && !o.EmailVerified()
}

// MailVerificationIfNeeded mails the link that verifies the address, unless it is verified or no mails are sent.
func (k MailTokens) MailVerificationIfNeeded(ctx context.Context, o connect.Operator, now time.Time) error {
	if !k.HasUnverifiedEmail(o) {
		return nil
	}
	return k.MailVerificationLink(ctx, o, connect.TokenVerifyEmail, o.Email, now)
}

// link returns the URL of the page for a kind of token, with the token.
func (k MailTokens) link(kind connect.TokenKind, token secret.Text) string {
	return site.PageURL(k.DashboardURL, tokenPaths[kind]) + "?token=" + url.QueryEscape(token.Reveal())
}

// MailVerificationLink stores a token that verifies an address, and mails its link. Earlier links to another
// address become void; those to this one still work.
//
// Returns rate_limited after too many mails to the address.
func (k MailTokens) MailVerificationLink(ctx context.Context, o connect.Operator, kind connect.TokenKind, to string,
	now time.Time) error {
	if err := mails.CheckSenderLimit(ctx, k.Mails, o.ID, []string{to}, func(int) string { return "email" },
		now); err != nil {
		return err
	}
	if kind == connect.TokenChangeEmail {
		if err := k.Tokens.MarkTokensUsed(ctx, o.ID, now, kind); err != nil {
			return err
		}
	}
	link, err := k.newLink(ctx, o, kind, to, now)
	if err != nil {
		return err
	}
	mail := mails.AddressVerification{Operator: o, To: to, URL: link}.Mail(k.Entropy.NewID(), now)
	mail.Sender = o.ID
	return k.Mails.Enqueue(ctx, mail)
}

// MailPasswordReset mails the operator a link that sets a password. Earlier links stay valid, so that a stranger's
// request does not end the operator's own link. With lockedOut the mail mentions too many wrong passwords.
func (k MailTokens) MailPasswordReset(ctx context.Context, o connect.Operator, lockedOut bool, now time.Time) error {
	link, err := k.newLink(ctx, o, connect.TokenResetPassword, o.Email, now)
	if err != nil {
		return err
	}
	return k.Mails.Enqueue(ctx,
		mails.PasswordReset{Operator: o, URL: link, LockedOut: lockedOut}.Mail(k.Entropy.NewID(), now))
}

func (k MailTokens) newLink(ctx context.Context, o connect.Operator, kind connect.TokenKind, to string,
	now time.Time) (string, error) {
	token, hash := newToken(k.Entropy)
	stored := connect.MailedToken{Hash: hash, OperatorID: o.ID, Kind: kind, Email: to, CreatedAt: now,
		ExpiresAt: now.Add(kind.Lifetime())}
	return k.link(kind, token), k.Tokens.InsertToken(ctx, stored)
}
