package postgres

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/internal/sets"
	"partnerdeposits/adapters/postgres/internal/sqlc"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/ports"
)

type deposits struct{ unit }

// Insert implements ports.DepositRepository.
func (r deposits) Insert(ctx context.Context, d *deposit.Deposit, checkoutToken secret.Text) error {
	var inserted int
	err := sets.InsertDeposits(r.Tx, r.sealer, []ports.NewDeposit{{Deposit: d, CheckoutToken: checkoutToken}}, false, func(n int) { inserted = n })
	if err != nil {
		return err
	}
	if err := r.Flush(ctx); err != nil {
		return err
	}
	if inserted == 0 {
		return ports.ErrReferenceTaken
	}
	return nil
}

// ForUpdate implements ports.DepositRepository.
func (r deposits) ForUpdate(ctx context.Context, depositID id.ID) (locked *deposit.Deposit, err error) {
	sets.LockDeposits(r.Tx, r.sealer, []id.ID{depositID}, sets.Wait, func(d *deposit.Deposit) { locked = d })
	if err := r.Flush(ctx); err != nil {
		return nil, err
	}
	if locked == nil {
		return nil, deposit.ErrNotFound
	}
	return sets.WithClient(ctx, r.Tx, r.sealer, locked)
}

// ForUpdateByToken implements ports.DepositRepository.
func (r deposits) ForUpdateByToken(ctx context.Context, checkoutToken secret.Text) (*deposit.Deposit, error) {
	d, err := scanDeposit(r.QueryRow(ctx, sets.SelectDeposit+` WHERE d.checkout_token_hash = $1 FOR UPDATE OF d`, sets.TokenHash(checkoutToken)), r.sealer)
	if err != nil {
		return nil, err
	}
	return sets.WithClient(ctx, r.Tx, r.sealer, d)
}

// Transition implements ports.DepositRepository. ErrStale surfaces at the next answer or from WithinTx.
func (r deposits) Transition(_ context.Context, d *deposit.Deposit, step deposit.Transition) error {
	sets.MoveDeposits(r.Tx, []ports.Move{{Deposit: d, Step: step}})
	return nil
}

// SetCheckout implements ports.DepositRepository.
func (r deposits) SetCheckout(ctx context.Context, d *deposit.Deposit) error {
	return r.q.SetCheckout(ctx, r.Deferred(), sqlc.SetCheckoutParams{
		ClientID: d.ClientID, CheckoutStartedAt: d.CheckoutStartedAt, UpdatedAt: d.UpdatedAt, ID: d.ID,
	})
}

func scanDeposit(row pgx.Row, sealer pg.Sealer) (*deposit.Deposit, error) {
	d, err := sets.ScanDeposit(row, sealer)
	return d, pg.OrNotFound(err, deposit.ErrNotFound)
}

// Deposit implements ports.DepositReader.
func (s *Store) Deposit(ctx context.Context, depositID id.ID) (*deposit.Deposit, error) {
	return scanDeposit(s.db.QueryRow(ctx, sets.SelectDeposit+` WHERE d.id = $1`, depositID), s.sealer)
}

// DepositByToken implements ports.DepositReader.
func (s *Store) DepositByToken(ctx context.Context, checkoutToken secret.Text) (*deposit.Deposit, error) {
	return scanDeposit(s.db.QueryRow(ctx, sets.SelectDeposit+` WHERE d.checkout_token_hash = $1`, sets.TokenHash(checkoutToken)), s.sealer)
}

// Deposits implements ports.DepositReader.
func (s *Store) Deposits(ctx context.Context, f ports.DepositFilter, page ports.Page) (ports.List[*deposit.Deposit], error) {
	l := newList(sets.SelectDeposit + ` WHERE true`)
	for _, by := range []struct {
		column string
		id     id.ID
	}{{"d.partner_id", f.PartnerID}, {"d.account_id", f.AccountID}, {"d.client_id", f.ClientID}} {
		if !by.id.IsZero() {
			l.where(by.column+" = ?", by.id)
		}
	}
	if f.ExternalID != "" {
		l.where("d.external_id = ?", f.ExternalID)
	}
	if f.RentalContract != "" {
		l.where("d.rental_contract = ?", f.RentalContract)
	}
	if len(f.Statuses) > 0 {
		l.where("d.status = ANY (?)", each(f.Statuses, func(s deposit.Status) string { return string(s) }))
	}
	l.within("d.created_at", f.Created)
	l.page("d.created_at", "d.id", page)
	return read(ctx, s.db, l, page, func(row pgx.CollectableRow) (*deposit.Deposit, error) { return scanDeposit(row, s.sealer) },
		func(d *deposit.Deposit) ports.Cursor { return ports.Cursor{At: d.CreatedAt, ID: d.ID} })
}

// CheckoutTokens implements ports.DepositReader.
func (s *Store) CheckoutTokens(ctx context.Context, depositIDs []id.ID) (map[id.ID]secret.Text, error) {
	rows, err := s.q.CheckoutTokens(ctx, s.db, depositIDs)
	if err != nil {
		return nil, err
	}
	tokens := make(map[id.ID]secret.Text, len(rows))
	for _, row := range rows {
		if tokens[row.ID], err = s.sealer.Open(row.CheckoutToken, pg.CheckoutAAD(row.ID)); err != nil {
			return nil, err
		}
	}
	return tokens, nil
}

// IdleCheckouts implements ports.DepositScheduler.
func (s *Store) IdleCheckouts(ctx context.Context, before time.Time, limit int) ([]id.ID, error) {
	if err := s.dropStaleTimers(ctx, "idle", before, limit); err != nil {
		return nil, err
	}
	return s.q.IdleCheckouts(ctx, s.db, before, int32(limit))
}

// ExpiredCheckouts implements ports.DepositScheduler.
func (s *Store) ExpiredCheckouts(ctx context.Context, at time.Time, limit int) ([]id.ID, error) {
	if err := s.dropStaleTimers(ctx, "checkout", at, limit); err != nil {
		return nil, err
	}
	return s.q.ExpiredCheckouts(ctx, s.db, at, int32(limit))
}

// ElapsedCoverages implements ports.DepositScheduler.
func (s *Store) ElapsedCoverages(ctx context.Context, at time.Time, limit int) ([]id.ID, error) {
	if err := s.dropStaleTimers(ctx, "coverage", at, limit); err != nil {
		return nil, err
	}
	return s.q.ElapsedCoverages(ctx, s.db, at, int32(limit))
}

// dropStaleTimers deletes due timers of deposits that no longer need them; otherwise stale timers would fill the next page
// of due timers.
func (s *Store) dropStaleTimers(ctx context.Context, kind string, at time.Time, limit int) error {
	for {
		n, err := s.q.DropStaleTimers(ctx, s.db, kind, at, int32(limit))
		if err != nil || n < int64(limit) {
			return err
		}
	}
}
