// Package audit builds the audit log's entries and lists their verbs.
package audit

import (
	"maps"
	"time"

	"partnerdeposits/core/actor"
	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
)

// NewEntry returns an audit entry with the subject's public id; a partner's API key becomes the detail keyId.
func NewEntry(
	entropy ports.Entropy, now time.Time, by actor.Actor, verb Action, subject string, detail map[string]string,
) ports.AuditEntry {
	if !by.Key.IsZero() {
		all := map[string]string{"keyId": id.APIKey.Of(by.Key)}
		maps.Copy(all, detail)
		detail = all
	}
	return ports.AuditEntry{
		ID: entropy.NewID(), At: now, Actor: by, Action: string(verb), Subject: subject, Detail: detail,
	}
}
