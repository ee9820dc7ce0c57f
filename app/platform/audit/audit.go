// Package audit makes the entries of the audit log.
package audit

import (
	"maps"
	"time"

	"partnerdeposits/core/actor"
	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
)

// Entry says that by did verb at now. subject is the outside id of the changed object. An API key that a partner used
// joins the detail, as keyId.
func Entry(
	entropy ports.Entropy, now time.Time, by actor.Actor, verb Verb, subject string, detail map[string]string,
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
