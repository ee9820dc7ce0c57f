package deposits

import (
	"context"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/deposits/internal/sqlc"
	"partnerdeposits/adapters/postgres/internal/lists"
	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/internal/sets"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	depositports "partnerdeposits/ports/deposits"
	ports "partnerdeposits/ports/platform"
)

func (r DepositStore) Insert(ctx context.Context, d *deposit.Deposit, checkoutToken secret.Text) error {
	var inserted bool
	err := InsertDeposit(pg.In(ctx), r.Sealer, ports.NewDeposit{Deposit: d, CheckoutToken: checkoutToken},
		func(ok bool) { inserted = ok })
	if err != nil {
		return err
	}
	if err := pg.In(ctx).Flush(ctx); err != nil {
		return err
	}
	if !inserted {
		return ports.ErrReferenceTaken
	}
	return nil
}

func (r DepositStore) LockRow(ctx context.Context, depositID id.ID) (locked *deposit.Deposit, err error) {
	LockDeposits(pg.In(ctx), r.Sealer, []id.ID{depositID}, sets.RowLockingWait, func(d *deposit.Deposit) { locked = d })
	if err := pg.In(ctx).Flush(ctx); err != nil {
		return nil, err
	}
	if locked == nil {
		return nil, deposit.ErrNotFound
	}
	return ReloadMissingClient(ctx, pg.In(ctx), r.Sealer, locked)
}

func (r DepositStore) LockRowByToken(ctx context.Context, checkoutToken secret.Text) (*deposit.Deposit, error) {
	d, err := scanDeposit(pg.In(ctx).QueryRow(ctx, SelectDepositSQL+` WHERE d.checkout_token_hash = $1 FOR UPDATE OF d`,
		HashCheckoutToken(checkoutToken)), r.Sealer)
	if err != nil {
		return nil, err
	}
	return ReloadMissingClient(ctx, pg.In(ctx), r.Sealer, d)
}

// StoreTransition queues the storing of a transition; ErrStaleVersion is returned when the statement is sent.
func (r DepositStore) StoreTransition(ctx context.Context, d *deposit.Deposit, step deposit.Transition) error {
	StoreTransitions(pg.In(ctx), []ports.DepositTransition{{Deposit: d, Transition: step}})
	return nil
}

func (r DepositStore) StoreCheckoutProgress(ctx context.Context, d *deposit.Deposit) error {
	return queries.SetCheckout(ctx, pg.In(ctx).QueueingTx(), sqlc.SetCheckoutParams{
		ClientID: d.ClientID, CheckoutStartedAt: d.CheckoutStartedAt, UpdatedAt: d.UpdatedAt, ID: d.ID,
	})
}

func scanDeposit(row pgx.Row, sealer pg.TextCipher) (*deposit.Deposit, error) {
	d, err := ScanDeposit(row, sealer)
	return d, pg.ReplaceErrNoRows(err, deposit.ErrNotFound)
}

func (r DepositStore) Deposit(ctx context.Context, depositID id.ID) (*deposit.Deposit, error) {
	return r.reads.one(ctx, depositID)
}

func (r DepositStore) DepositByToken(ctx context.Context, checkoutToken secret.Text) (*deposit.Deposit, error) {
	return scanDeposit(r.DB.QueryRow(ctx, SelectDepositSQL+` WHERE d.checkout_token_hash = $1`, HashCheckoutToken(checkoutToken)),
		r.Sealer)
}

// Deposits returns a page of deposits by the index of the narrowest filter. Statuses are compared row by row,
// since an index of them would burden every transition.
func (r DepositStore) Deposits(ctx context.Context, f depositports.DepositFilter,
	page ports.Page) (ports.ListPage[*deposit.Deposit], error) {
	if f.ExternalID != "" && f.AccountID.IsZero() && !f.PartnerID.IsZero() {
		accounts, err := queries.AccountsOfExternalID(ctx, r.DB, f.PartnerID, f.ExternalID)
		switch {
		case err != nil || len(accounts) == 0:
			return ports.ListPage[*deposit.Deposit]{}, err
		case len(accounts) == 1:
			f.AccountID = accounts[0]
		}
	}
	l := depositList(f)
	l.AfterCursor(page.Cursor)
	sql := SelectDepositsSQL(l.RowsExpression(page), "d.fits, d.n") + " ORDER BY d.created_at DESC, d.id DESC"
	found, err := lists.ReadPage(ctx, r.DB, l, page, sql,
		func(row pgx.CollectableRow) (got lists.PageCandidateRow[*deposit.Deposit], err error) {
			got.Item, err = ScanDeposit(row, r.Sealer, &got.Fits, &got.N)
			return got, err
		}, func(d *deposit.Deposit) ports.Cursor { return ports.Cursor{At: d.CreatedAt, ID: d.ID} })
	if err != nil {
		return ports.ListPage[*deposit.Deposit]{}, err
	}
	return found, r.setPartnerLeft(ctx, found.Items)
}

// setPartnerLeft sets PartnerLeft of deposits: whether the partner has lost its link. As a column, it made each
// list 10 % slower.
func (r DepositStore) setPartnerLeft(ctx context.Context, deposits []*deposit.Deposit) error {
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
	links, err := queries.ActiveLinksOf(ctx, r.DB, accounts)
	if err != nil {
		return err
	}
	linked := make(map[id.ID]id.ID, len(links))
	for _, l := range links {
		linked[l.AccountID] = l.PartnerID
	}
	for _, d := range ofDashboard {
		d.PartnerLeft = linked[d.AccountID] != d.PartnerID
	}
	return nil
}

func depositList(f depositports.DepositFilter) *lists.PageQuery {
	l := &lists.PageQuery{Table: "deposits", Identity: []string{"id"}, Order: []string{"created_at", "id"}}
	ofPartner := !f.PartnerID.IsZero()
	switch {
	case !f.ClientID.IsZero():
		l.Where("client_id = ?", f.ClientID)
		f.ClientID = id.ID{}
		// A partner without a link must not find deposits by a client that responses hide from it.
		if ofPartner {
			l.Filter("NOT " + PartnerLeftSQL(l.Table))
		}
	case f.RentalContract != "" && ofPartner:
		// The condition <> '' lets Postgres use the index of rental contracts, which leaves out deposits without a
		// rental contract.
		l.Where("rental_contract <> '' AND rental_contract = ? AND partner_id = ?", f.RentalContract, f.PartnerID)
		f.RentalContract, f.PartnerID = "", id.ID{}
	case !f.AccountID.IsZero():
		// A partner that never had a link has no deposit there: the query ends without reading deposits.
		if ofPartner {
			l.Where("EXISTS (SELECT FROM account_links WHERE partner_id = ? AND account_id = ? AND ? IN ('', external_id))",
				f.PartnerID, f.AccountID, f.ExternalID)
		}
		l.Where("account_id = ?", f.AccountID)
		f.AccountID = id.ID{}
	case ofPartner:
		l.Where("partner_id = ?", f.PartnerID)
		f.PartnerID = id.ID{}
	}
	check := func(set bool, condition string, arg any) {
		if set {
			l.Filter(condition, arg)
		}
	}
	check(!f.PartnerID.IsZero(), "partner_id = ?", f.PartnerID)
	check(!f.AccountID.IsZero(), "account_id = ?", f.AccountID)
	check(f.ExternalID != "", "external_id = ?", f.ExternalID)
	check(f.RentalContract != "", "rental_contract = ?", f.RentalContract)
	check(len(f.Statuses) > 0, "status = ANY (?)", pg.ConvertEach(f.Statuses,
		func(s deposit.Status) string { return string(s) }))
	l.WhereTimeSpan("created_at", f.Created)
	return l
}

func (r DepositStore) CheckoutTokens(ctx context.Context, depositIDs []id.ID) (map[id.ID]secret.Text, error) {
	rows, err := queries.CheckoutTokens(ctx, r.DB, depositIDs)
	if err != nil {
		return nil, err
	}
	tokens := make(map[id.ID]secret.Text, len(rows))
	for _, row := range rows {
		if tokens[row.ID], err = r.Sealer.Decrypt(row.CheckoutToken, pg.CheckoutTokenAAD(row.ID)); err != nil {
			return nil, err
		}
	}
	return tokens, nil
}

func (s DueDepositFinder) IdleCheckouts(ctx context.Context, before time.Time, limit int) ([]id.ID, error) {
	if err := s.dropStaleTimers(ctx, "idle", before, limit); err != nil {
		return nil, err
	}
	return queries.IdleCheckouts(ctx, s.DB, before, limit)
}

func (s DueDepositFinder) ExpiredCheckouts(ctx context.Context, at time.Time, limit int) ([]id.ID, error) {
	if err := s.dropStaleTimers(ctx, "checkout", at, limit); err != nil {
		return nil, err
	}
	return queries.ExpiredCheckouts(ctx, s.DB, at, limit)
}

func (s DueDepositFinder) ElapsedCovers(ctx context.Context, at time.Time, limit int) ([]id.ID, error) {
	if err := s.dropStaleTimers(ctx, "coverage", at, limit); err != nil {
		return nil, err
	}
	return queries.ElapsedCoverages(ctx, s.DB, at, limit)
}

// dropStaleTimers deletes due timers that deposits no longer need, which would fill each page of due timers.
func (s DueDepositFinder) dropStaleTimers(ctx context.Context, kind string, at time.Time, limit int) error {
	for {
		n, err := queries.DropStaleTimers(ctx, s.DB, kind, at, limit)
		if err != nil || n < int64(limit) {
			return err
		}
	}
}

func (r DepositStore) DepositByReference(ctx context.Context, reference string) (*deposit.Deposit, error) {
	return scanDeposit(r.DB.QueryRow(ctx, SelectDepositSQL+` WHERE d.reference = $1`, reference), r.Sealer)
}

func (r DepositStore) History(ctx context.Context, depositID id.ID) ([]deposit.Transition, error) {
	rows, err := queries.History(ctx, r.DB, depositID)
	return pg.ConvertEach(rows, func(row sqlc.DepositTransition) deposit.Transition { return deposit.Transition(row) }),
		err
}

func (r DepositStore) CountWaitingReads() int { return r.reads.queue.CountWaiting() }
