package clients

import (
	"context"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/ports"
)

// Erase removes the personal data of a client at once, on a revoked link too: the record, and the unsent mails to the client
// (docs/guides/erasure.md). No event, response or deposit that commits later tells of the client. Erasing again changes nothing.
//
// Returns client_not_found.
func (s *Service) Erase(ctx context.Context, by partner.Caller, clientID id.ID) error {
	_, err := s.erase(ctx, by.Partner.ID, clientID, partnerActor(by), map[string]string{"keyId": id.APIKey.Of(by.Key.ID)})
	return err
}

// EraseByAdmin is Erase for the admin command, for a client of any partner. erased is false if the client was erased before.
//
// Returns client_not_found.
func (s *Service) EraseByAdmin(ctx context.Context, clientID id.ID) (erased bool, err error) {
	return s.erase(ctx, id.ID{}, clientID, adminActor, nil)
}

func (s *Service) erase(ctx context.Context, partnerID, clientID id.ID, actor string, detail map[string]string) (erased bool, err error) {
	now := s.deps.Clock.Now()
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		erased = false
		client, err := s.deps.Clients.Lock(ctx, partnerID, clientID)
		if err != nil || client.Erased() {
			return err
		}
		if err := s.deps.Clients.Erase(ctx, client, now); err != nil {
			return err
		}
		erased = true
		return s.audit(ctx, "client.erase", client.ID, actor, now, detail)
	})
	return erased && err == nil, err
}

const adminActor = "admin"

func partnerActor(by partner.Caller) string { return "partner:" + id.Partner.Of(by.Partner.ID) }

// audit appends an entry about a client, without personal data: the audit log is kept without end.
func (s *Service) audit(ctx context.Context, action string, clientID id.ID, actor string, now time.Time, detail map[string]string) error {
	return s.deps.Audit.Append(ctx, ports.AuditEntry{
		ID: s.deps.Entropy.NewID(), At: now, Actor: actor, Action: action, Subject: id.Client.Of(clientID), Detail: detail,
	})
}
