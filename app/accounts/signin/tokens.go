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

// Tokens mails the links that verify addresses and set passwords.
type Tokens struct {
	Tokens       accountports.Tokens
	Mails        ports.Mails
	Entropy      ports.Entropy
	DashboardURL string // DASHBOARD_BASE_URL
	// Verify says that addresses are verified: mails are sent (SMTP_URL).
	Verify bool
}

// tokenPaths are the pages of the links.
var tokenPaths = map[connect.TokenKind]string{
	connect.TokenVerify: site.Verify, connect.TokenChangeEmail: site.Verify, connect.TokenReset: site.Reset,
}

// Open reports whether the address of an operator has still to be verified.
func (k Tokens) Open(o connect.Operator) bool { return k.Verify && !o.Verified() }

// AskToVerify mails the link that verifies the operator's address, if addresses are verified.
func (k Tokens) AskToVerify(ctx context.Context, o connect.Operator, now time.Time) error {
	if !k.Open(o) {
		return nil
	}
	return k.Mail(ctx, o, connect.TokenVerify, o.Email, now)
}

// link is the URL in a mail.
func (k Tokens) link(kind connect.TokenKind, token secret.Text) string {
	return site.URL(k.DashboardURL, tokenPaths[kind]) + "?token=" + url.QueryEscape(token.Reveal())
}

// Mail stores a token that verifies an address, and mails its link there. Earlier links to a new address end; those to
// the present one stay: the reader may open any of them.
//
// Returns rate_limited (deposit.SentTo): somebody typed the address, and nobody has verified it.
func (k Tokens) Mail(ctx context.Context, o connect.Operator, kind connect.TokenKind, to string, now time.Time) error {
	if err := mails.MayMail(ctx, k.Mails, o.ID, []string{to}, func(int) string { return "email" }, now); err != nil {
		return err
	}
	if kind == connect.TokenChangeEmail {
		if err := k.Tokens.UseTokens(ctx, o.ID, now, kind); err != nil {
			return err
		}
	}
	link, err := k.newLink(ctx, o, kind, to, now)
	if err != nil {
		return err
	}
	mail := mails.VerifyAddress{Operator: o, To: to, URL: link}.Mail(k.Entropy.NewID(), now)
	mail.Sender = o.ID
	return k.Mails.Enqueue(ctx, mail)
}

// MailReset stores a token that sets a password, and mails its link to the operator. Earlier links stay until they
// expire or a password is set: a stranger who asks for another ends none that the operator is about to use. lockedOut
// tells the operator that too many wrong passwords were tried.
func (k Tokens) MailReset(ctx context.Context, o connect.Operator, lockedOut bool, now time.Time) error {
	link, err := k.newLink(ctx, o, connect.TokenReset, o.Email, now)
	if err != nil {
		return err
	}
	return k.Mails.Enqueue(ctx,
		mails.ResetPassword{Operator: o, URL: link, LockedOut: lockedOut}.Mail(k.Entropy.NewID(), now))
}

// newLink stores a token of a kind, and gives its link.
func (k Tokens) newLink(ctx context.Context, o connect.Operator, kind connect.TokenKind, to string,
	now time.Time) (string, error) {
	token, hash := newToken(k.Entropy)
	stored := connect.Token{Hash: hash, OperatorID: o.ID, Kind: kind, Email: to, CreatedAt: now,
		ExpiresAt: now.Add(kind.Lifetime())}
	return k.link(kind, token), k.Tokens.InsertToken(ctx, stored)
}
