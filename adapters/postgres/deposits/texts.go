package deposits

import (
	"context"

	"partnerdeposits/adapters/postgres/deposits/internal/sqlc"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
)

func (s TextEraser) EraseDepositText(ctx context.Context, depositID id.ID, e ports.AuditEntry) (erased bool,
	err error) {
	found, err := queries.EraseDepositText(ctx, s.DB, sqlc.EraseDepositTextParams{
		Deposit: depositID, Entry: e.ID, EntryAt: e.At, EntryActor: e.Actor.String(), EntrySubject: e.Subject,
	})
	if err == nil && !found {
		err = deposit.ErrNotFound
	}
	if err != nil {
		return false, err
	}
	return queries.AuditEntryExists(ctx, s.DB, e.ID)
}

func (s TextEraser) CountDepositsOfClient(ctx context.Context, clientID id.ID) (int, error) {
	n, err := queries.DepositsOfClient(ctx, s.DB, clientID)
	return int(n), err
}
