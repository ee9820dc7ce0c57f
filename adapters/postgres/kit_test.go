package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/portstest"
	ports "partnerdeposits/ports/platform"
)

func TestMain(m *testing.M) { pgtest.RunTests(m) }

func draft(from deposit.Origin, now time.Time) *deposit.Deposit {
	depositID := portstest.NewID()
	return deposit.New(depositID, "D-"+depositID.Encode(), from, deposit.Draft{
		Amount: 50_000, ContractStartAt: now, ContractEndAt: now.Add(7 * 24 * time.Hour), RentalContract: "BK-17",
	}, nil, now)
}

func create(ctx context.Context, store *postgres.Store, from deposit.Origin, now time.Time) (id.ID, error) {
	d := draft(from, now)
	k := ports.IdempotencyKey{Owner: from.PartnerID, Route: "POST /api/partner/v1/deposits", Key: uuid.New()}
	return d.ID, store.WithinTx(ctx, func(ctx context.Context) error {
		if _, err := store.Idempotency.ClaimKey(ctx, k, now); err != nil {
			return err
		}
		if _, err := store.Links.LockNewestShared(ctx, from.PartnerID, from.AccountID); err != nil {
			return err
		}
		if err := store.Deposits.Insert(ctx, d, secret.Text(d.Reference)); err != nil {
			return err
		}
		if err := store.Audit.Append(ctx, ports.AuditEntry{ID: portstest.NewID(), At: now,
			Actor: actor.Partner(id.ID{1}, id.ID{}), Action: "deposit.create", Subject: d.Reference}); err != nil {
			return err
		}
		return store.Idempotency.StoreResponse(ctx, k,
			ports.StoredResponse{Code: 201, Body: []byte(`{"data":{"id":"dep_x"}}`), CreatedAt: now})
	})
}

func cancel(ctx context.Context, store *postgres.Store, depositID id.ID, now time.Time) error {
	return store.WithinTx(ctx, func(ctx context.Context) error {
		d, err := store.Deposits.LockRow(ctx, depositID)
		if err != nil {
			return err
		}
		step, err := d.ApplyTrigger(deposit.TriggerCancelledByPartner, deposit.DefaultTimerDurations(), now)
		if err != nil {
			return err
		}
		if err := store.Deposits.StoreTransition(ctx, d, step); err != nil {
			return err
		}
		if err := store.Outbox.Append(ctx,
			ports.Event{ID: portstest.NewID(), PartnerID: d.PartnerID, Name: webhook.EventDepositCancelled, DepositID: d.ID,
				Data: d.EventData(step), CreatedAt: now}); err != nil {
			return err
		}
		return store.Audit.Append(ctx, ports.AuditEntry{ID: portstest.NewID(), At: now,
			Actor: actor.Partner(id.ID{1}, id.ID{}), Action: "deposit.cancel", Subject: d.Reference})
	})
}

func exec(t testing.TB, pool *pgxpool.Pool, sql string, args ...any) {
	t.Helper()
	_, err := pool.Exec(t.Context(), sql, args...)
	require.NoError(t, err)
}

func count(t testing.TB, pool *pgxpool.Pool, sql string, args ...any) (n int) {
	t.Helper()
	require.NoError(t, pool.QueryRow(t.Context(), sql, args...).Scan(&n))
	return n
}
