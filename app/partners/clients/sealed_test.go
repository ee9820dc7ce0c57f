//go:build !unit

package clients_test

import (
	"context"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/app/deposits"
	"partnerdeposits/app/partners/clients"
	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/evidence"
	"partnerdeposits/core/id"
	"partnerdeposits/core/tenant"
	"partnerdeposits/lab/servicetest"
	depositports "partnerdeposits/ports/deposits"
)

func TestSealedAddress_LastsUntilTheDepositsHaveEnded(t *testing.T) {
	f := setup(t)
	var made []id.ID
	for range 3 {
		made = append(made, f.deposit())
	}
	_, err := f.Postgres.Addresses.ErasedClientAddress(t.Context(), made[0])
	require.ErrorIs(t, err, tenant.ErrNotFound, "the client is not erased")
	require.Equal(t, email, f.cancel(made[0]))
	f.erase()
	require.Equal(t, map[string]int{"outbox": 1}, f.personal(), "the address is encrypted")

	_, err = f.Postgres.Addresses.ErasedClientAddress(t.Context(), made[0])
	require.ErrorIs(t, err, tenant.ErrNotFound, "this deposit had ended")
	for _, d := range made[1:] {
		address, err := f.Postgres.Addresses.ErasedClientAddress(t.Context(), d)
		require.NoError(t, err)
		require.Equal(t, tenant.MailAddress{Email: email, Locale: "fr"}, address)
	}
	check := func() {
		_, err := f.Pool.Exec(t.Context(), `UPDATE sealed_addresses SET check_at = now()`)
		require.NoError(t, err)
		checked, err := f.Postgres.Addresses.DeleteUnneededAddresses(t.Context(), 100, time.Hour)
		require.NoError(t, err)
		require.Equal(t, 1, checked)
		checked, err = f.Postgres.Addresses.DeleteUnneededAddresses(t.Context(), 100, time.Hour)
		require.NoError(t, err)
		require.Zero(t, checked, "the next look comes after the pause")
	}
	check()
	f.cancel(made[2])
	_, err = f.Postgres.Addresses.ErasedClientAddress(t.Context(), made[2])
	require.ErrorIs(t, err, tenant.ErrNotFound, "at once")
	check()
	require.Equal(t, 1, f.Count("sealed_addresses", ""))
	f.cancel(made[1])
	check()
	require.Zero(t, f.Count("sealed_addresses", ""))
}

func TestSealedAddress_OfAClientWithoutOpenDeposits_IsNotKept(t *testing.T) {
	f := setup(t)
	f.cancel(f.deposit())
	f.erase()
	require.Zero(t, f.Count("sealed_addresses", ""))
}

// A client of many deposits is looked through in parts.
func TestSealedAddress_OfAClientOfManyDeposits_EndsAfterTheOldest(t *testing.T) {
	f := setup(t)
	oldest := f.deposit()
	_, err := f.Pool.Exec(t.Context(),
		`INSERT INTO deposits (id, reference, status, version, account_id, partner_id, by_partner_api, client_id,
			amount_cents, contract_start_at,
			contract_end_at, url_generation, checkout_token_hash, checkout_token, checkout_expires_at, cancelled_at, created_at,
			updated_at)
		SELECT gen_random_uuid(), i::text, 'cancelled', 2, account_id, partner_id, true, client_id, 50000, now(), now(),
		false, sha256(i::text::bytea), '', now(), now(),
			created_at + i * interval '1 second', now() FROM deposits, generate_series(1, 1200) i`)
	require.NoError(t, err)
	f.erase()
	rounds := 0
	round := func() int {
		rounds++
		require.Less(t, rounds, 10)
		checked, err := f.Postgres.Addresses.DeleteUnneededAddresses(t.Context(), 100, time.Hour)
		require.NoError(t, err)
		return checked
	}
	for round() > 0 {
	}
	require.Equal(t, 1, f.Count("sealed_addresses", "from_id = $1", oldest))
	f.cancel(oldest)
	_, err = f.Pool.Exec(t.Context(), `UPDATE sealed_addresses SET check_at = now()`)
	require.NoError(t, err)
	for round() > 0 {
	}
	require.Zero(t, f.Count("sealed_addresses", ""))
}

func TestEraseDepositText_LeavesTheRestOfTheHistory(t *testing.T) {
	f := setup(t)
	d, other := f.deposit(func(d *deposit.Deposit) { d.Metadata = map[string]string{"note": "for Ada"} }), f.deposit()
	for _, depositID := range []id.ID{d, other} {
		_, err := f.Deposits.Cancel(t.Context(), f.by, deposits.Cancellation{DepositID: depositID, Reason: "duplicate",
			Comment: "Ada called"}, idempotent.KeyAndEncoder[deposits.PartnerView]{
			Encode: func(deposits.PartnerView) (idempotent.Response, error) { return idempotent.Response{Code: 200}, nil },
		})
		require.NoError(t, err)
	}
	_, err := f.Pool.Exec(t.Context(), `UPDATE deposit_transitions SET detail = '{}'`)
	require.ErrorContains(t, err, "append-only")
	_, err = f.Pool.Exec(t.Context(), `DELETE FROM deposit_transitions`)
	require.ErrorContains(t, err, "append-only")

	contents := f.Postgres.Contents
	for _, depositID := range []id.ID{d, other} {
		file := evidence.File{ID: servicetest.NewID(), Name: "Ada.jpg", Type: evidence.JPEG, Size: 4, SentAt: f.Clock.Now()}
		from := depositports.UploadSession{DepositID: depositID}
		require.NoError(t, f.Postgres.Files.InsertUnconfirmed(t.Context(), from, []evidence.File{file}))
		require.NoError(t, contents.Put(t.Context(), file.ID, strings.NewReader("oven"), 4))
		f.RunInTransaction(func(ctx context.Context, repos *postgres.Store) error {
			_, err := repos.Files.AttachUnconfirmed(ctx, from, []id.ID{file.ID}, file.SentAt, file.SentAt,
				actor.Operator(id.ID{1}))
			return err
		})
	}
	erased, err := f.Clients.EraseDepositText(t.Context(), d)
	require.NoError(t, err)
	require.True(t, erased)
	require.Zero(t, f.Count("deposit_files", "deposit_id = $1", d))
	require.Equal(t, 1, f.Count("file_contents", ""), "the file of the other deposit")
	require.Equal(t, 1,
		f.Count("audit_log",
			`action = 'deposit.erase_files' AND actor = 'admin' AND subject = $1 AND detail = '{"files": "1"}'`,
			id.Deposit.Of(d)))
	kept := `detail = jsonb_build_object('keyId', $2::text, 'reason', 'duplicate')`
	require.Equal(t, 1, f.Count("deposit_transitions", "deposit_id = $1 AND "+kept, d, id.APIKey.Of(f.by.Key.ID)))
	require.Equal(t, 1, f.Count("deposit_transitions", "deposit_id = $1 AND detail->>'comment' = 'Ada called'", other))
	require.Equal(t, 1, f.Count("deposits", "id = $1 AND metadata = '{}'", d))
	require.Equal(t, 1,
		f.Count("audit_log",
			`action = 'deposit.erase_text' AND actor = 'admin' AND subject = $1 AND detail = '{"transitions": "1", "metadata": "1"}'`,
			id.Deposit.Of(d)))
	require.Zero(t, f.Count("audit_log", `audit_log::text LIKE '%Ada%'`))

	_, err = f.Clients.EraseDepositText(t.Context(), servicetest.NewID())
	require.ErrorIs(t, err, deposit.ErrNotFound)
	erased, err = f.Clients.EraseDepositText(t.Context(), d)
	require.NoError(t, err)
	require.False(t, erased, "no words are left")
	require.Equal(t, 1, f.Count("audit_log", `action = 'deposit.erase_text'`))
	require.Equal(t, 1, f.Count("audit_log", `action = 'deposit.erase_files'`))
}

func TestEraseTextOfClient_TellsItsProgress_AndPassesOverWhatIsDone(t *testing.T) {
	f := setup(t)
	none := func(clients.TextErasureProgress) {}
	done, err := f.Clients.EraseTextOfClient(t.Context(), f.client.ID, none)
	require.NoError(t, err)
	require.Zero(t, done, "a client without deposits")

	// More than a page, and the deposits of another client at the account.
	const many = 120
	f.deposit(func(d *deposit.Deposit) { d.Metadata = map[string]string{"note": "for Ada"} })
	_, err = f.Pool.Exec(t.Context(),
		`INSERT INTO deposits (id, reference, status, version, account_id, partner_id, by_partner_api, client_id,
			amount_cents, contract_start_at,
			contract_end_at, url_generation, checkout_token_hash, checkout_token, checkout_expires_at, cancelled_at, created_at,
			updated_at, metadata)
		SELECT gen_random_uuid(), i::text, 'cancelled', 2, account_id, partner_id, true, client_id, 50000, now(), now(),
		false, sha256(i::text::bytea), '', now(), now(),
			created_at, now(), '{"note": "for Ada"}' FROM deposits, generate_series(2, $1) i`, many)
	require.NoError(t, err)
	other := f.deposit(func(d *deposit.Deposit) { d.Metadata = map[string]string{"note": "for Bob"} })
	_, err = f.Pool.Exec(t.Context(), `UPDATE deposits SET client_id = NULL WHERE id = $1`, other)
	require.NoError(t, err)

	const interruptedAt = 105
	ctx, stop := context.WithCancel(t.Context())
	var seen []clients.TextErasureProgress
	_, err = f.Clients.EraseTextOfClient(ctx, f.client.ID, func(p clients.TextErasureProgress) {
		if seen = append(seen, p); p.Read == interruptedAt {
			stop()
		}
	})
	require.ErrorIs(t, err, context.Canceled)
	require.Len(t, seen, interruptedAt+1)
	for read, p := range seen {
		require.Equal(t, clients.TextErasureProgress{Total: many, Read: read, Erased: read}, p)
	}
	f.erase()
	done, err = f.Clients.EraseTextOfClient(t.Context(), f.client.ID, none)
	require.NoError(t, err)
	require.Equal(t, clients.TextErasureProgress{Total: many, Read: many, Erased: many - interruptedAt}, done,
		"of an erased client, too")
	require.Equal(t, many, f.Count("audit_log", `action = 'deposit.erase_text'`))
	require.Equal(t, 1, f.Count("deposits", "metadata <> '{}'"), "the other client's")

	done, err = f.Clients.EraseTextOfClient(t.Context(), servicetest.NewID(), none)
	require.ErrorIs(t, err, tenant.ErrNotFound)
	require.Zero(t, done)
}
