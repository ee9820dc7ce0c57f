package postgres

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/internal/sets"
	"partnerdeposits/adapters/postgres/internal/sqlc"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/mailaddr"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/tenant"
	"partnerdeposits/ports"
)

type clients struct{ unit }

// Insert implements ports.ClientRepository.
func (r clients) Insert(ctx context.Context, c tenant.Client) error {
	return r.q.InsertClient(ctx, r.Deferred(), sqlc.InsertClientParams{
		ID: c.ID, AccountID: c.AccountID, PartnerID: c.PartnerID, Email: c.Email, FirstName: c.FirstName, LastName: c.LastName,
		Phone: c.Phone, Locale: c.Locale, CreatedAt: c.CreatedAt,
	})
}

// OfAccount implements ports.ClientRepository.
func (r clients) OfAccount(ctx context.Context, accountID, clientID id.ID) (tenant.Client, error) {
	var client tenant.Client
	var err error = tenant.ErrNotFound
	asked := ports.AccountClient{AccountID: accountID, ClientID: clientID}
	sets.ShareClients(r.Tx, []ports.AccountClient{asked}, sets.Wait, func(c tenant.Client) {
		if c.AccountID == accountID {
			client, err = c, nil
		}
	})
	if failed := r.Flush(ctx); failed != nil {
		return tenant.Client{}, failed
	}
	return client, err
}

// Lock implements ports.ClientRepository.
func (r clients) Lock(ctx context.Context, partnerID, clientID id.ID) (tenant.Client, error) {
	row, err := r.q.LockClient(ctx, r.Tx, clientID)
	if err != nil {
		return tenant.Client{}, pg.OrNotFound(err, tenant.ErrNotFound)
	}
	c := toClient(row)
	if partnerID.IsZero() || c.PartnerID == partnerID {
		return c, nil
	}
	if c.PartnerID.IsZero() { // from a checkout before checkouts noted the partner
		if made, err := r.q.MadeDepositFor(ctx, r.Tx, clientID, partnerID); err != nil || made {
			return c, err
		}
	}
	return tenant.Client{}, tenant.ErrNotFound
}

// Update implements ports.ClientRepository.
func (r clients) Update(ctx context.Context, c tenant.Client) error {
	return r.q.UpdateClient(ctx, r.Deferred(), sqlc.UpdateClientParams{
		ID: c.ID, Email: c.Email, FirstName: c.FirstName, LastName: c.LastName, Phone: c.Phone, Locale: c.Locale, ChangedAt: c.ChangedAt,
	})
}

// Erase implements ports.ClientRepository.
func (r clients) Erase(ctx context.Context, c tenant.Client, at time.Time) error {
	plain, err := json.Marshal(tenant.Address{Email: c.Email, Locale: c.Locale})
	if err != nil {
		return err
	}
	sealed, err := r.sealer.Seal(secret.Text(plain), pg.AddressAAD(c.ID))
	if err != nil {
		return err
	}
	if err := r.q.SealAddress(ctx, r.Deferred(), c.ID, sealed, at); err != nil {
		return err
	}
	mails := sqlc.DeleteUnsentMailsParams{Address: mailaddr.Normal(c.Email), AccountID: c.AccountID, ClientID: c.ID, PartnerID: c.PartnerID}
	if err := r.q.DeleteUnsentMails(ctx, r.Deferred(), mails); err != nil {
		return err
	}
	if _, err := r.Deferred().Exec(ctx, queueErasure, c.ID, at); err != nil {
		return err
	}
	return r.q.EraseClient(ctx, r.Deferred(), at, c.ID)
}

// Client implements ports.ClientReader.
func (s *Store) Client(ctx context.Context, partnerID, clientID id.ID) (tenant.Client, error) {
	row, err := s.q.ClientOfPartner(ctx, s.db, clientID, partnerID)
	return toClient(row), pg.OrNotFound(err, tenant.ErrNotFound)
}

// Clients implements ports.ClientReader.
func (s *Store) Clients(ctx context.Context, f ports.ClientFilter, page ports.Page) (ports.List[tenant.Client], error) {
	l := clientList(f)
	l.after(page.Cursor)
	sql := `SELECT c.id, c.account_id, c.partner_id, c.email, c.first_name, c.last_name, c.phone, c.locale, c.created_at, c.erased_at, c.changed_at, c.fits, c.n
		FROM ` + l.rows(page) + ` AS c ORDER BY c.created_at DESC, c.id DESC`
	return read(ctx, s.db, l, page, sql, func(row pgx.CollectableRow) (got listed[tenant.Client], err error) {
		c := &got.item
		err = row.Scan(&c.ID, &c.AccountID, &c.PartnerID, &c.Email, &c.FirstName, &c.LastName, &c.Phone, &c.Locale, &c.CreatedAt, &c.ErasedAt, &c.ChangedAt,
			&got.fits, &got.n)
		return got, err
	}, func(c tenant.Client) ports.Cursor { return ports.Cursor{At: c.CreatedAt, ID: c.ID} })
}

// clientList says how the list of f is read: each filter has an index, which begins with the partner.
func clientList(f ports.ClientFilter) *list {
	l := &list{table: "clients", identity: []string{"id"}, order: []string{"created_at", "id"}}
	l.where("erased_at IS NULL AND partner_id = ?", f.PartnerID)
	switch {
	case f.Email != "":
		l.where(`lower(email COLLATE "C") = ?`, mailaddr.Normal(f.Email))
		if !f.AccountID.IsZero() {
			l.filter("account_id = ?", f.AccountID)
		}
	case !f.AccountID.IsZero():
		l.where("account_id = ?", f.AccountID)
	}
	// No EXISTS: Postgres may answer that by a hash of all links.
	l.filter(`(SELECT true FROM account_links n WHERE n.account_id = clients.account_id AND n.revoked_at IS NULL AND n.partner_id = clients.partner_id LIMIT 1)`)
	return l
}

// ClientChangedAt implements ports.ClientReader.
func (s *Store) ClientChangedAt(ctx context.Context, clientID id.ID) (time.Time, error) {
	at, err := s.q.ClientChanged(ctx, s.db, clientID)
	return at, pg.OrNotFound(err, tenant.ErrNotFound)
}

// SealedAddress implements ports.SealedAddresses.
func (s *Store) SealedAddress(ctx context.Context, depositID id.ID) (a tenant.Address, err error) {
	row, err := s.q.SealedAddress(ctx, s.db, depositID)
	if err != nil {
		return a, pg.OrNotFound(err, tenant.ErrNotFound)
	}
	plain, err := s.sealer.Open(row.Address, pg.AddressAAD(row.ClientID))
	if err != nil {
		return a, err
	}
	return a, json.Unmarshal([]byte(plain.Reveal()), &a)
}

// CheckSealedAddresses implements ports.SealedAddresses.
func (s *Store) CheckSealedAddresses(ctx context.Context, limit int, pause time.Duration) (int, error) {
	row, err := s.q.CheckSealedAddresses(ctx, s.db, int32(limit), pause)
	return int(row.Checked), err
}

// EraseDepositText implements ports.TextEraser.
func (s *Store) EraseDepositText(ctx context.Context, depositID id.ID, e ports.AuditEntry) (erased bool, err error) {
	found, err := s.q.EraseDepositText(ctx, s.db, sqlc.EraseDepositTextParams{
		Deposit: depositID, Entry: e.ID, EntryAt: e.At, EntryActor: e.Actor.String(), EntrySubject: e.Subject,
	})
	if err == nil && !found {
		err = deposit.ErrNotFound
	}
	if err != nil {
		return false, err
	}
	return s.q.AuditEntryExists(ctx, s.db, e.ID)
}

// DepositsOfClient implements ports.TextEraser.
func (s *Store) DepositsOfClient(ctx context.Context, clientID id.ID) (int, error) {
	n, err := s.q.DepositsOfClient(ctx, s.db, clientID)
	return int(n), err
}

func toClient(row sqlc.Client) tenant.Client {
	return tenant.Client{
		ID: row.ID, AccountID: row.AccountID, PartnerID: row.PartnerID,
		Person:    tenant.Person{Email: row.Email, FirstName: row.FirstName, LastName: row.LastName, Phone: row.Phone, Locale: row.Locale},
		CreatedAt: row.CreatedAt, ChangedAt: row.ChangedAt, ErasedAt: row.ErasedAt,
	}
}
