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

// MailTokens creates the tokens of links that verify addresses and set passwords, and mails those links.
type MailTokens struct {
	Tokens       accountports.MailTokenStore
	Mails        ports.MailQueue
	Entropy      ports.Entropy
	DashboardURL string // The setting DASHBOARD_BASE_URL: the base URL of the operators' pages.
	// Verify reports whether operators must verify their e-mail addresses. true: SMTP_URL is set and mails are sent;
	// false: no mail can be sent.
	Verify bool
}

// tokenPaths maps each kind of mail token to the path of the page that its link opens.
var tokenPaths = map[connect.TokenKind]string{
	connect.TokenVerifyEmail: site.VerifyEmailPath, connect.TokenChangeEmail: site.VerifyEmailPath,
	connect.TokenResetPassword: site.ResetPasswordPath,
}

// HasUnverifiedEmail reports whether the operator's address has still to be verified; false also when the service
// verifies no addresses.
func (k MailTokens) HasUnverifiedEmail(o connect.Operator) bool {
	return k.Verify && !o.EmailVerified()
}

// MailVerificationIfNeeded mails the link that verifies the operator's address, unless the address is verified or the
// service sends no mails.
func (k MailTokens) MailVerificationIfNeeded(ctx context.Context, o connect.Operator, now time.Time) error {
	if !k.HasUnverifiedEmail(o) {
		return nil
	}
	return k.MailVerificationLink(ctx, o, connect.TokenVerifyEmail, o.Email, now)
}

// link returns the URL that a mail contains: the page for the kind of token, with the token.
func (k MailTokens) link(kind connect.TokenKind, token secret.Text) string {
	return site.PageURL(k.DashboardURL, tokenPaths[kind]) + "?token=" + url.QueryEscape(token.Reveal())
}

// MailVerificationLink stores a token that verifies an address, and mails its link to that address. Earlier
// mailed links that verify a new address of the operator become void. Earlier links that verify the present
// address still work: the reader may open any of them.
//
// Returns rate_limited after too many mails to the address: a stranger may have typed it.
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

// MailPasswordReset stores a token that sets a password, and mails its link to the operator. Earlier links stay valid
// until they expire or a password is set, so that a stranger who requests another link does not end the one
// that the operator is about to use. lockedOut is true when too many wrong passwords were tried, which the
// mail then mentions; false for a request by the forgot-password form.
func (k MailTokens) MailPasswordReset(ctx context.Context, o connect.Operator, lockedOut bool, now time.Time) error {
	link, err := k.newLink(ctx, o, connect.TokenResetPassword, o.Email, now)
	if err != nil {
		return err
	}
	return k.Mails.Enqueue(ctx,
		mails.PasswordReset{Operator: o, URL: link, LockedOut: lockedOut}.Mail(k.Entropy.NewID(), now))
}

// newLink stores a new token of a kind, and returns the link that contains it.
func (k MailTokens) newLink(ctx context.Context, o connect.Operator, kind connect.TokenKind, to string,
	now time.Time) (string, error) {
	token, hash := newToken(k.Entropy)
	stored := connect.MailedToken{Hash: hash, OperatorID: o.ID, Kind: kind, Email: to, CreatedAt: now,
		ExpiresAt: now.Add(kind.Lifetime())}
	return k.link(kind, token), k.Tokens.InsertToken(ctx, stored)
}
