package clients

import (
	"context"
	"time"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
)

// Erase removes the personal data of a client at once, also on a revoked link (docs/guides/erasure.md). No later
// event, response or deposit contains it.
//
// Returns client_not_found.
func (s *Service) Erase(ctx context.Context, by partner.Caller, clientID id.ID) error {
	_, err := s.erase(ctx, by.Partner.ID, clientID, by.Actor())
	return err
}

// EraseByAdmin removes the personal data of any client; erased is false if it had been erased before.
//
// Returns client_not_found.
func (s *Service) EraseByAdmin(ctx context.Context, clientID id.ID) (erased bool, err error) {
	return s.erase(ctx, id.ID{}, clientID, actor.Staff)
}

func (s *Service) erase(ctx context.Context, partnerID, clientID id.ID, by actor.Actor) (erased bool, err error) {
	now := s.deps.Clock.Now()
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		erased = false
		client, err := s.deps.Clients.LockRow(ctx, partnerID, clientID)
		if err != nil || client.Erased() {
			return err
		}
		if err := s.deps.Clients.Erase(ctx, client, now); err != nil {
			return err
		}
		erased = true
		return s.audit(ctx, audit.ClientErase, client.ID, by, now, nil)
	})
	return erased && err == nil, err
}

// audit appends an audit entry without personal data, because the audit log is never deleted.
func (s *Service) audit(
	ctx context.Context, verb audit.Action, clientID id.ID, by actor.Actor, now time.Time,
	detail map[string]string,
) error {
	return s.deps.Audit.Append(ctx, audit.NewEntry(s.deps.Entropy, now, by, verb, id.Client.Of(clientID), detail))
}
