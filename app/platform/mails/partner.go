// Package mails writes every mail of the service, sends queued mails, and decides when a failed mail is sent
// again. docs/guides/adding.md describes how to add a mail.
package mails

import (
	"time"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/oneline"
	"partnerdeposits/core/partner"
	ports "partnerdeposits/ports/platform"
)

// AccountUnlinked is the mail that informs a partner's contact that an operator ended the link between
// the partner and the operator's account.
type AccountUnlinked struct {
	Contact    string // The e-mail address of the partner's contact.
	Account    connect.Account
	ExternalID string // The partner's id of the operator.
}

// Mail returns the mail about an ended link in English, the language of the API.
func (m AccountUnlinked) Mail(mailID id.ID, now time.Time) ports.Mail {
	return ports.Mail{
		ID: mailID, To: m.Contact, CreatedAt: now,
		Subject: "An operator ended the link to your account",
		Body: "The operator " + oneline.Clean(m.ExternalID) + " (" + oneline.Clean(m.Account.CompanyName) + ", " +
			id.Account.Of(m.Account.ID) + ") ended the link on " + minute(now) +
			".\n\nNew deposits, captures and releases for this account now answer account_revoked. Deposits that exist stay as they are, and you can read" +
			" and cancel yours. A new connect URL links the account again.\n",
	}
}

// APIKeyCreated is the mail that informs a partner's contact that an API key was created.
type APIKeyCreated struct {
	Contact string         // The e-mail address of the partner's contact.
	Key     partner.APIKey // The new API key.
	By      string         // The author who created the key: APIKeyAuthor or Support.
}

// Mail returns the mail about a new API key in English. The secret key itself is not in the text.
func (m APIKeyCreated) Mail(mailID id.ID, now time.Time) ports.Mail {
	return ports.Mail{
		ID: mailID, To: m.Contact, CreatedAt: now,
		Subject: "A new API key",
		Body: "The API key" + described(m.Key) + "\n\nwas created on " + minute(now) + ", by " + m.By +
			".\n\nIf you did not expect this key, delete it and tell our support.\n",
	}
}

// APIKeyRevoked is the mail that informs a partner's contact that an API key was revoked.
type APIKeyRevoked struct {
	Contact string         // The e-mail address of the partner's contact.
	Key     partner.APIKey // The revoked API key.
	By      string         // The author who revoked the key: APIKeyAuthor or Support.
}

// Mail returns the mail about a revoked API key in English.
func (m APIKeyRevoked) Mail(mailID id.ID, now time.Time) ports.Mail {
	return ports.Mail{
		ID: mailID, To: m.Contact, CreatedAt: now,
		Subject: "An API key was deleted",
		Body: "The API key" + described(m.Key) + "\n\nwas deleted on " + minute(now) + ", by " + m.By +
			". Within five seconds it works nowhere.\n\nIf you did not expect this, tell our support.\n",
	}
}

// SupportName is the name of support staff, in mails, as the author of a change to an API key.
const SupportName = "our support"

// APIKeyAuthor returns the words with which a mail names a partner's request as the author of a change, by its
// API key.
func APIKeyAuthor(used partner.APIKey) string {
	return "a request with the API key " + id.APIKey.Of(used.ID) + " (" + used.Prefix + "…" + used.Last4 + ")"
}

// described returns an API key for a mail, on lines of its own: its name, its id, and both ends of the key.
func described(k partner.APIKey) string {
	return "\n\n  " + k.Name + "\n  " + id.APIKey.Of(k.ID) + " (" + k.Prefix + "…" + k.Last4 + ")"
}

func minute(at time.Time) string { return at.UTC().Format("2006-01-02 15:04 UTC") }
