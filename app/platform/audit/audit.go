// Package audit builds the entries of the audit log, and lists the verbs that they may contain.
package audit

import (
	"maps"
	"time"

	"partnerdeposits/core/actor"
	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
)

// NewEntry returns an audit entry: the actor by did verb at the time now. subject is the public id of the changed
// object. If a partner used an API key, the details get the key's id as keyId.
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
