// Package mails writes every mail of the service and sends them. docs/guides/adding.md describes how to add a mail.
package mails

import (
	"time"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/oneline"
	"partnerdeposits/core/partner"
	ports "partnerdeposits/ports/platform"
)

// AccountUnlinked is the mail to a partner's contact that an operator ended the link.
type AccountUnlinked struct {
	Contact    string
	Account    connect.Account
	ExternalID string // The partner's own id of the operator.
}

// Mail returns the mail about an ended link in English, the API's language.
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

// APIKeyCreated is the mail to a partner's contact about a new API key.
type APIKeyCreated struct {
	Contact string
	Key     partner.APIKey
	By      string // The author of the new key: APIKeyAuthor or Support.
}

// Mail returns the mail about a new API key in English, without the secret key.
func (m APIKeyCreated) Mail(mailID id.ID, now time.Time) ports.Mail {
	return ports.Mail{
		ID: mailID, To: m.Contact, CreatedAt: now,
		Subject: "A new API key",
		Body: "The API key" + described(m.Key) + "\n\nwas created on " + minute(now) + ", by " + m.By +
			".\n\nIf you did not expect this key, delete it and tell our support.\n",
	}
}

// APIKeyRevoked is the mail to a partner's contact about a revoked API key.
type APIKeyRevoked struct {
	Contact string
	Key     partner.APIKey
	By      string // The author of the revocation: APIKeyAuthor or Support.
}

func (m APIKeyRevoked) Mail(mailID id.ID, now time.Time) ports.Mail {
	return ports.Mail{
		ID: mailID, To: m.Contact, CreatedAt: now,
		Subject: "An API key was deleted",
		Body: "The API key" + described(m.Key) + "\n\nwas deleted on " + minute(now) + ", by " + m.By +
			". Within five seconds it works nowhere.\n\nIf you did not expect this, tell our support.\n",
	}
}

// SupportName names support staff in mails about API keys.
const SupportName = "our support"

// APIKeyAuthor returns the words for a partner's request as the author of a change, by its API key.
func APIKeyAuthor(used partner.APIKey) string {
	return "a request with the API key " + id.APIKey.Of(used.ID) + " (" + used.Prefix + "…" + used.Last4 + ")"
}

// described returns an API key for a mail: name, id and both ends of the key.
func described(k partner.APIKey) string {
	return "\n\n  " + k.Name + "\n  " + id.APIKey.Of(k.ID) + " (" + k.Prefix + "…" + k.Last4 + ")"
}

func minute(at time.Time) string { return at.UTC().Format("2006-01-02 15:04 UTC") }
