// Package mails writes every mail of the service and says when a failed mail is sent again.
// docs/guides/adding.md explains how to add a mail.
package mails

import (
	"time"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/oneline"
	"partnerdeposits/core/partner"
	ports "partnerdeposits/ports/platform"
)

// LinkEndedForPartner tells a partner's contact that an operator ended the link between the partner and the operator's
// account.
type LinkEndedForPartner struct {
	Contact    string // the partner's contact e-mail
	Account    connect.Account
	ExternalID string // the partner's id of the operator
}

// Mail gives the text in English, the language of the API.
func (m LinkEndedForPartner) Mail(mailID id.ID, now time.Time) ports.Mail {
	return ports.Mail{
		ID: mailID, To: m.Contact, CreatedAt: now,
		Subject: "An operator ended the link to your account",
		Body: "The operator " + oneline.Clean(m.ExternalID) + " (" + oneline.Clean(m.Account.CompanyName) + ", " +
			id.Account.Of(m.Account.ID) + ") ended the link on " + minute(now) +
			".\n\nNew deposits, captures and releases for this account now answer account_revoked. Deposits that exist stay as they are, and you can read" +
			" and cancel yours. A new connect URL links the account again.\n",
	}
}

// APIKeyCreated tells a partner's contact that an API key was created.
type APIKeyCreated struct {
	Contact string         // the partner's contact e-mail
	Key     partner.APIKey // the new key
	By      string         // who created the key: APIKeyOf or Support
}

// Mail gives the text in English. The key itself is not in the text.
func (m APIKeyCreated) Mail(mailID id.ID, now time.Time) ports.Mail {
	return ports.Mail{
		ID: mailID, To: m.Contact, CreatedAt: now,
		Subject: "A new API key",
		Body: "The API key" + described(m.Key) + "\n\nwas created on " + minute(now) + ", by " + m.By +
			".\n\nIf you did not expect this key, delete it and tell our support.\n",
	}
}

// APIKeyRevoked tells a partner's contact that an API key was revoked.
type APIKeyRevoked struct {
	Contact string         // the partner's contact e-mail
	Key     partner.APIKey // the revoked key
	By      string         // who revoked the key: APIKeyOf or Support
}

// Mail gives the text in English.
func (m APIKeyRevoked) Mail(mailID id.ID, now time.Time) ports.Mail {
	return ports.Mail{
		ID: mailID, To: m.Contact, CreatedAt: now,
		Subject: "An API key was deleted",
		Body: "The API key" + described(m.Key) + "\n\nwas deleted on " + minute(now) + ", by " + m.By +
			". Within five seconds it works nowhere.\n\nIf you did not expect this, tell our support.\n",
	}
}

// Support names our support as the author of a change to an API key.
const Support = "our support"

// APIKeyOf names a partner's request as the author of a change, by the API key that it used.
func APIKeyOf(used partner.APIKey) string {
	return "a request with the API key " + id.APIKey.Of(used.ID) + " (" + used.Prefix + "…" + used.Last4 + ")"
}

// described is an API key on lines of its own: name, id, and the ends of the key.
func described(k partner.APIKey) string {
	return "\n\n  " + k.Name + "\n  " + id.APIKey.Of(k.ID) + " (" + k.Prefix + "…" + k.Last4 + ")"
}

func minute(at time.Time) string { return at.UTC().Format("2006-01-02 15:04 UTC") }
