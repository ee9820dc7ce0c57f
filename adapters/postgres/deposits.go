package postgres

import (
	"context"
	"crypto/sha256"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/internal/sqlc"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/ports"
)

// selectDeposit reads a deposit with its partner's name and its client, unless that one was erased.
const selectDeposit = `SELECT d.id, d.reference, d.status, d.status_reason, d.version, d.account_id, d.partner_id, d.by_partner_api, coalesce(p.name, ''),
		d.external_id, d.client_id, coalesce(c.email, ''), coalesce(c.first_name, ''), coalesce(c.last_name, ''), c.id IS NOT NULL,
		d.amount_cents, d.captured_cents, d.contract_start_at, d.contract_end_at, d.rental_contract, d.return_url, d.url_generation, d.metadata, d.locale,
		d.checkout_expires_at, d.checkout_started_at, d.activated_at, d.expires_at, d.cancelled_at, d.closed_at, d.captured_at, d.created_at, d.updated_at,
		CASE WHEN d.url_generation THEN d.checkout_token END
	FROM deposits d LEFT JOIN partners p ON p.id = d.partner_id LEFT JOIN clients c ON c.id = d.client_id AND c.erased_at IS NULL`

// depositScan is a deposit while it is read.
type depositScan struct {
	deposit.Deposit
	client deposit.Client
	known  bool
	token  []byte // sealed; nil where the checkout URL is not shown
}

func (s *depositScan) targets() []any {
	d := &s.Deposit
	return []any{&d.ID, &d.Reference, &d.Status, &d.StatusReason, &d.Version, &d.AccountID, &d.PartnerID, &d.ByPartnerAPI, &d.PartnerName,
		&d.ExternalID, &d.ClientID, &s.client.Email, &s.client.FirstName, &s.client.LastName, &s.known,
		&d.Amount, &d.CapturedAmount, &d.ContractStartAt, &d.ContractEndAt, &d.RentalContract, &d.ReturnURL, &d.URLGeneration, &d.Metadata, &d.Locale,
		&d.CheckoutExpiresAt, &d.CheckoutStartedAt, &d.ActivatedAt, &d.ExpiresAt, &d.CancelledAt, &d.ClosedAt, &d.CapturedAt, &d.CreatedAt, &d.UpdatedAt, &s.token}
}

func (s *depositScan) deposit(sealer pg.Sealer) (_ *deposit.Deposit, err error) {
	if s.known {
		s.client.ID = s.ClientID
		s.Client = &s.client
	}
	if s.token != nil {
		s.CheckoutToken, err = sealer.Open(s.token, pg.CheckoutAAD(s.ID))
	}
	return &s.Deposit, err
}

func scanDeposit(row pgx.Row, sealer pg.Sealer) (*deposit.Deposit, error) {
	var s depositScan
	if err := row.Scan(s.targets()...); err != nil {
		return nil, pg.OrNotFound(err, deposit.ErrNotFound)
	}
	return s.deposit(sealer)
}

type deposits struct{ unit }

// Insert implements ports.DepositRepository.
func (r deposits) Insert(ctx context.Context, d *deposit.Deposit, checkoutToken secret.Text) error {
	sealed, err := r.sealer.Seal(checkoutToken, pg.CheckoutAAD(d.ID))
	if err != nil {
		return err
	}
	if !d.CheckoutStartedAt.IsZero() {
		if err := r.q.SetTimer(ctx, r.Deferred(), "idle", d.CheckoutStartedAt, d.ID); err != nil {
			return err
		}
	}
	return changed(ports.ErrReferenceTaken)(r.q.InsertDeposit(ctx, r.Tx, sqlc.InsertDepositParams{
		ID: d.ID, Reference: d.Reference, Status: d.Status, StatusReason: d.StatusReason, Version: int32(d.Version),
		AccountID: d.AccountID, PartnerID: d.PartnerID, ByPartnerApi: d.ByPartnerAPI, ExternalID: d.ExternalID, ClientID: d.ClientID,
		AmountCents: d.Amount, CapturedCents: d.CapturedAmount, ContractStartAt: d.ContractStartAt, ContractEndAt: d.ContractEndAt,
		RentalContract: d.RentalContract, ReturnURL: d.ReturnURL, URLGeneration: d.URLGeneration, Metadata: orNoPairs(d.Metadata), Locale: d.Locale,
		CheckoutTokenHash: tokenHash(checkoutToken), CheckoutToken: sealed,
		CheckoutExpiresAt: d.CheckoutExpiresAt, CheckoutStartedAt: d.CheckoutStartedAt, ActivatedAt: d.ActivatedAt, ExpiresAt: d.ExpiresAt,
		CancelledAt: d.CancelledAt, ClosedAt: d.ClosedAt, CapturedAt: d.CapturedAt, CreatedAt: d.CreatedAt, UpdatedAt: d.UpdatedAt,
	}))
}

// tokenHash is what a checkout token is found by. It carries enough randomness for a fast hash.
func tokenHash(token secret.Text) []byte {
	h := sha256.Sum256([]byte(token.Reveal()))
	return h[:]
}

func orNoPairs(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}

func (r deposits) ForUpdate(ctx context.Context, depositID id.ID) (*deposit.Deposit, error) {
	return r.locked(ctx, r.QueryRow(ctx, selectDeposit+` WHERE d.id = $1 FOR UPDATE OF d`, depositID))
}

func (r deposits) ForUpdateByToken(ctx context.Context, checkoutToken secret.Text) (*deposit.Deposit, error) {
	return r.locked(ctx, r.QueryRow(ctx, selectDeposit+` WHERE d.checkout_token_hash = $1 FOR UPDATE OF d`, tokenHash(checkoutToken)))
}

// locked reads a locked row. A row that was changed while we waited for its lock is joined with what was read before the
// wait, so a client that came with that change is missing; it is read again, as is the rare erased one.
func (r deposits) locked(ctx context.Context, row pgx.Row) (*deposit.Deposit, error) {
	d, err := scanDeposit(row, r.sealer)
	if err != nil || d.ClientID.IsZero() || d.Client != nil {
		return d, err
	}
	return scanDeposit(r.QueryRow(ctx, selectDeposit+` WHERE d.id = $1`, d.ID), r.sealer)
}

// Transition implements ports.DepositRepository. ErrStale surfaces at the next answer or from WithinTx.
func (r deposits) Transition(ctx context.Context, d *deposit.Deposit, step deposit.Transition) error {
	if step.To == deposit.Active {
		if err := r.q.SetTimer(ctx, r.Deferred(), "coverage", d.ExpiresAt, d.ID); err != nil {
			return err
		}
	}
	return r.q.Transition(ctx, r.Deferred(), transitionParams(d, step))
}

func transitionParams(d *deposit.Deposit, step deposit.Transition) sqlc.TransitionParams {
	return sqlc.TransitionParams{
		ToVersion: int32(step.Version), FromStatus: step.From, ToStatus: step.To, Trigger: step.Trigger, At: step.At,
		StatusReason: d.StatusReason, CapturedCents: d.CapturedAmount, ClientID: d.ClientID, CheckoutStartedAt: d.CheckoutStartedAt,
		ActivatedAt: d.ActivatedAt, ExpiresAt: d.ExpiresAt, CancelledAt: d.CancelledAt, ClosedAt: d.ClosedAt, CapturedAt: d.CapturedAt,
		UpdatedAt: d.UpdatedAt, ID: step.DepositID, Actor: step.Actor, Detail: step.Detail, EventID: step.EventID,
	}
}

func (r deposits) SetCheckout(ctx context.Context, d *deposit.Deposit) error {
	return r.q.SetCheckout(ctx, r.Deferred(), sqlc.SetCheckoutParams{
		ClientID: d.ClientID, CheckoutStartedAt: d.CheckoutStartedAt, UpdatedAt: d.UpdatedAt, ID: d.ID,
	})
}

// Deposit implements ports.DepositReader.
func (s *Store) Deposit(ctx context.Context, depositID id.ID) (*deposit.Deposit, error) {
	return scanDeposit(s.db.QueryRow(ctx, selectDeposit+` WHERE d.id = $1`, depositID), s.sealer)
}

// DepositByToken implements ports.DepositReader.
func (s *Store) DepositByToken(ctx context.Context, checkoutToken secret.Text) (*deposit.Deposit, error) {
	return scanDeposit(s.db.QueryRow(ctx, selectDeposit+` WHERE d.checkout_token_hash = $1`, tokenHash(checkoutToken)), s.sealer)
}

// Deposits implements ports.DepositReader.
func (s *Store) Deposits(ctx context.Context, f ports.DepositFilter, page ports.Page) (ports.List[*deposit.Deposit], error) {
	l := newList(selectDeposit + ` WHERE true`)
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

// dropStaleTimers clears the way to the timers that count: those of deposits that moved on would pile up before them.
func (s *Store) dropStaleTimers(ctx context.Context, kind string, at time.Time, limit int) error {
	for {
		n, err := s.q.DropStaleTimers(ctx, s.db, kind, at, int32(limit))
		if err != nil || n < int64(limit) {
			return err
		}
	}
}
