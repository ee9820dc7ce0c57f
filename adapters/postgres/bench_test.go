package postgres_test

import (
	"context"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
	"partnerdeposits/ports/portstest"
)

// origin makes a partner with a linked account.
func origin(t testing.TB, store *postgres.Store) deposit.Origin {
	t.Helper()
	now := time.Now().UTC().Truncate(time.Microsecond)
	p := partner.Partner{ID: portstest.NewID(), Name: "Harbour", CreatedAt: now}
	p.Slug = "p-" + p.ID.Encode()
	o := connect.Operator{ID: portstest.NewID(), PasswordHash: "h", CreatedAt: now}
	o.Email = o.ID.Encode() + "@rentals.example"
	a := connect.Account{ID: portstest.NewID(), OperatorID: o.ID, CompanyName: "C", CreatedAt: now}
	l := connect.Link{ID: portstest.NewID(), PartnerID: p.ID, AccountID: a.ID, ExternalID: "op-1", LinkedAt: now}
	require.NoError(t, store.WithinTx(t.Context(), func(ctx context.Context, r ports.Repositories) error {
		require.NoError(t, r.Partners.Insert(ctx, p, ""))
		require.NoError(t, r.Operators.Insert(ctx, o, a))
		return r.Links.Insert(ctx, l)
	}))
	return deposit.Origin{AccountID: a.ID, PartnerID: p.ID, PartnerName: p.Name, ExternalID: l.ExternalID, ByPartnerAPI: true}
}

func draft(from deposit.Origin, now time.Time) *deposit.Deposit {
	depositID := portstest.NewID()
	return deposit.New(depositID, "D-"+depositID.Encode(), from, deposit.Draft{
		Amount: 50_000, ContractStartAt: now, ContractEndAt: now.Add(7 * 24 * time.Hour), RentalContract: "BK-17",
	}, nil, now)
}

func create(ctx context.Context, store *postgres.Store, from deposit.Origin, now time.Time) (id.ID, error) {
	d := draft(from, now)
	k := ports.IdempotencyKey{PartnerID: from.PartnerID, Route: "POST /api/partner/v1/deposits", Key: uuid.New()}
	return d.ID, store.WithinTx(ctx, func(ctx context.Context, r ports.Repositories) error {
		if _, err := r.Idempotency.Claim(ctx, k, now); err != nil {
			return err
		}
		if _, err := r.Links.OfPartner(ctx, from.PartnerID, from.AccountID); err != nil {
			return err
		}
		if err := r.Deposits.Insert(ctx, d, secret.Text(d.Reference)); err != nil {
			return err
		}
		if err := r.Audit.Append(ctx, ports.AuditEntry{ID: portstest.NewID(), At: now, Actor: "partner:p", Action: "deposit.create", Subject: d.Reference}); err != nil {
			return err
		}
		return r.Idempotency.Store(ctx, k, ports.StoredResponse{Status: 201, Body: []byte(`{"data":{"id":"dep_x"}}`), CreatedAt: now})
	})
}

func cancel(ctx context.Context, store *postgres.Store, depositID id.ID, now time.Time) error {
	return store.WithinTx(ctx, func(ctx context.Context, r ports.Repositories) error {
		d, err := r.Deposits.ForUpdate(ctx, depositID)
		if err != nil {
			return err
		}
		step, err := d.Apply(deposit.CancelledByPartner, deposit.DefaultTimers(), now)
		if err != nil {
			return err
		}
		if err := r.Deposits.Transition(ctx, d, step); err != nil {
			return err
		}
		if err := r.Outbox.Append(ctx, ports.Event{ID: portstest.NewID(), PartnerID: d.PartnerID, Name: webhook.DepositCancelled, DepositID: d.ID,
			Data: d.EventData(step), CreatedAt: now}); err != nil {
			return err
		}
		return r.Audit.Append(ctx, ports.AuditEntry{ID: portstest.NewID(), At: now, Actor: "partner:p", Action: "deposit.cancel", Subject: d.Reference})
	})
}

func BenchmarkCreateTx(b *testing.B) {
	store, _ := newStore(b, postgres.Options{})
	from := origin(b, store)
	for b.Loop() {
		_, err := create(b.Context(), store, from, time.Now())
		require.NoError(b, err)
	}
}

func BenchmarkCancelTx(b *testing.B) {
	store, _ := newStore(b, postgres.Options{})
	from := origin(b, store)
	for b.Loop() {
		b.StopTimer()
		depositID, err := create(b.Context(), store, from, time.Now())
		require.NoError(b, err)
		b.StartTimer()
		require.NoError(b, cancel(b.Context(), store, depositID, time.Now()))
	}
}
