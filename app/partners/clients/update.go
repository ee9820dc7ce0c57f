package clients

import (
	"context"
	"strings"
	"time"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/tenant"
)

// Update changes a client; the audit log contains the changed fields without values.
//
// Returns missing_field, invalid_field, client_not_found, account_revoked, or the errors of
// idempotent.Executor.Run.
func (s *Service) Update(ctx context.Context, by partner.Caller, clientID id.ID, want tenant.PersonChange,
	call idempotent.KeyAndEncoder[tenant.Client]) (idempotent.Response, error) {
	now := s.deps.Clock.Now()
	return s.deps.Idempotent.Run(ctx, idempotent.Request{
		Key:     call.Key,
		Now:     now,
		Prepare: func(context.Context) error { return want.Validate() },
		Effect: func(ctx context.Context) (idempotent.Response, error) {
			client, err := s.deps.Clients.LockRow(ctx, by.Partner.ID, clientID)
			if err != nil {
				return idempotent.Response{}, err
			}
			if client.Erased() {
				return idempotent.Response{}, tenant.ErrNotFound
			}
			link, err := s.deps.Links.LockNewestShared(ctx, by.Partner.ID, client.AccountID)
			if err != nil {
				return idempotent.Response{}, err
			}
			if err := link.CheckUsable(); err != nil {
				return idempotent.Response{}, err
			}
			client, changed := changedBy(want, client, now)
			if len(changed) > 0 {
				if err := s.deps.Clients.Update(ctx, client); err != nil {
					return idempotent.Response{}, err
				}
				detail := map[string]string{"fields": strings.Join(changed, ", ")}
				if err := s.audit(ctx, audit.ClientUpdate, client.ID, by.Actor(), now, detail); err != nil {
					return idempotent.Response{}, err
				}
			}
			return call.Encode(client)
		},
	})
}

// changedBy returns the changed client, and the names of the fields whose value differs.
func changedBy(want tenant.PersonChange, client tenant.Client, now time.Time) (tenant.Client, []string) {
	fields := want.ChangedFields(client.Person)
	if len(fields) > 0 {
		client.Person, client.ChangedAt = want.Apply(client.Person), now
	}
	return client, fields
}
