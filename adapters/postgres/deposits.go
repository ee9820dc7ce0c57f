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
	var inserted bool
	err := sets.InsertDeposit(r.Tx, r.sealer, ports.NewDeposit{Deposit: d, CheckoutToken: checkoutToken}, func(ok bool) { inserted = ok })
	if err != nil {
		return err
	}
	if err := r.Flush(ctx); err != nil {
		return err
	}
	if !inserted {
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
	return s.reads.one(ctx, depositID)
}

// DepositByToken implements ports.DepositReader.
func (s *Store) DepositByToken(ctx context.Context, checkoutToken secret.Text) (*deposit.Deposit, error) {
	return scanDeposit(s.db.QueryRow(ctx, sets.SelectDeposit+` WHERE d.checkout_token_hash = $1`, sets.TokenHash(checkoutToken)), s.sealer)
}

// Deposits implements ports.DepositReader. A list reads the index of its narrowest filter. The status is checked row by row: an
// index of statuses would cost every transition a new entry in every index.
func (s *Store) Deposits(ctx context.Context, f ports.DepositFilter, page ports.Page) (ports.List[*deposit.Deposit], error) {
	if f.ExternalID != "" && f.AccountID.IsZero() && !f.PartnerID.IsZero() {
		accounts, err := s.q.AccountsOfExternalID(ctx, s.db, f.PartnerID, f.ExternalID)
		switch {
		case err != nil || len(accounts) == 0:
			return ports.List[*deposit.Deposit]{}, err
		case len(accounts) == 1:
			f.AccountID = accounts[0]
		}
	}
	l := depositList(f)
	l.after(page.Cursor)
	sql := sets.SelectDepositsOf(l.rows(page), "d.fits, d.n") + " ORDER BY d.created_at DESC, d.id DESC"
	found, err := read(ctx, s.db, l, page, sql, func(row pgx.CollectableRow) (got listed[*deposit.Deposit], err error) {
		got.item, err = sets.ScanDeposit(row, s.sealer, &got.fits, &got.n)
		return got, err
	}, func(d *deposit.Deposit) ports.Cursor { return ports.Cursor{At: d.CreatedAt, ID: d.ID} })
	if err != nil {
		return ports.List[*deposit.Deposit]{}, err
	}
	return found, s.setPartnerLeft(ctx, found.Items)
}

// setPartnerLeft sets PartnerLeft. Only deposits of the dashboard need the links of their accounts, and few lists have any:
// as a column of the list (sets.PartnerLeft), the links cost each list 10 %.
func (s *Store) setPartnerLeft(ctx context.Context, deposits []*deposit.Deposit) error {
	var ofDashboard []*deposit.Deposit
	var accounts []id.ID
	for _, d := range deposits {
		if !d.PartnerID.IsZero() && !d.ByPartnerAPI {
			ofDashboard, accounts = append(ofDashboard, d), append(accounts, d.AccountID)
		}
	}
	if len(ofDashboard) == 0 {
		return nil
	}
	rows, err := s.db.Query(ctx, `SELECT account_id, partner_id FROM account_links WHERE account_id = ANY ($1) AND revoked_at IS NULL`, accounts)
	if err != nil {
		return err
	}
	linked := map[id.ID]id.ID{} // partners by account
	var account, partner id.ID
	_, err = pgx.ForEachRow(rows, []any{&account, &partner}, func() error {
		linked[account] = partner
		return nil
	})
	for _, d := range ofDashboard {
		d.PartnerLeft = linked[d.AccountID] != d.PartnerID
	}
	return pg.Translate(err)
}

// depositList says how the list of f is read.
func depositList(f ports.DepositFilter) *list {
	l := &list{table: "deposits", identity: []string{"id"}, order: []string{"created_at", "id"}}
	ofPartner := !f.PartnerID.IsZero()
	switch {
	case !f.ClientID.IsZero():
		l.where("client_id = ?", f.ClientID)
		f.ClientID = id.ID{}
		if ofPartner { // whose answers no longer show the client may not find by it
			l.filter("NOT " + sets.PartnerLeft(l.table))
		}
	case f.RentalContract != "" && ofPartner:
		l.where("rental_contract <> '' AND rental_contract = ? AND partner_id = ?", f.RentalContract, f.PartnerID) // the index leaves '' out
		f.RentalContract, f.PartnerID = "", id.ID{}
	case !f.AccountID.IsZero():
		if ofPartner { // without a link, past or present, the partner has no deposit there: nothing is read
			l.where("EXISTS (SELECT FROM account_links WHERE partner_id = ? AND account_id = ? AND ? IN ('', external_id))", f.PartnerID, f.AccountID, f.ExternalID)
		}
		l.where("account_id = ?", f.AccountID)
		f.AccountID = id.ID{}
	case ofPartner:
		l.where("partner_id = ?", f.PartnerID)
		f.PartnerID = id.ID{}
	}
	check := func(set bool, condition string, arg any) {
		if set {
			l.filter(condition, arg)
		}
	}
	check(!f.PartnerID.IsZero(), "partner_id = ?", f.PartnerID)
	check(!f.AccountID.IsZero(), "account_id = ?", f.AccountID)
	check(f.ExternalID != "", "external_id = ?", f.ExternalID)
	check(f.RentalContract != "", "rental_contract = ?", f.RentalContract)
	check(len(f.Statuses) > 0, "status = ANY (?)", each(f.Statuses, func(s deposit.Status) string { return string(s) }))
	l.span("created_at", f.Created)
	return l
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
