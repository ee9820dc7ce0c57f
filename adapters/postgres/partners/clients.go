package partners

import (
	"context"
	"encoding/json"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/lists"
	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/internal/sets"
	"partnerdeposits/adapters/postgres/partners/internal/sqlc"
	"partnerdeposits/core/id"
	"partnerdeposits/core/mailaddr"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/tenant"
	partnerports "partnerdeposits/ports/partners"
	ports "partnerdeposits/ports/platform"
)

func (r ClientStore) Insert(ctx context.Context, c tenant.Client) error {
	return queries.InsertClient(ctx, pg.In(ctx).QueueingTx(), sqlc.InsertClientParams{
		ID: c.ID, AccountID: c.AccountID, PartnerID: c.PartnerID, Email: c.Email, FirstName: c.FirstName,
		LastName: c.LastName,
		Phone:    c.Phone, Locale: c.Locale, CreatedAt: c.CreatedAt,
	})
}

func (r ClientStore) LockRowShared(ctx context.Context, accountID, clientID id.ID) (tenant.Client, error) {
	var client tenant.Client
	var err error = tenant.ErrNotFound
	asked := ports.ClientLookupKey{AccountID: accountID, ClientID: clientID}
	LockClientsShared(pg.In(ctx), []ports.ClientLookupKey{asked}, sets.RowLockingWait, func(c tenant.Client) {
		if c.AccountID == accountID {
			client, err = c, nil
		}
	})
	if failed := pg.In(ctx).Flush(ctx); failed != nil {
		return tenant.Client{}, failed
	}
	return client, err
}

func (r ClientStore) LockRow(ctx context.Context, partnerID, clientID id.ID) (tenant.Client, error) {
	row, err := queries.LockClient(ctx, pg.In(ctx), clientID)
	if err != nil {
		return tenant.Client{}, pg.ReplaceErrNoRows(err, tenant.ErrNotFound)
	}
	c := toClient(row)
	if partnerID.IsZero() || c.PartnerID == partnerID {
		return c, nil
	}
	// A client without a partner is from an old checkout; a partner may use it after making a deposit for it.
	if c.PartnerID.IsZero() {
		if made, err := queries.MadeDepositFor(ctx, pg.In(ctx), clientID, partnerID); err != nil || made {
			return c, err
		}
	}
	return tenant.Client{}, tenant.ErrNotFound
}

func (r ClientStore) Update(ctx context.Context, c tenant.Client) error {
	return queries.UpdateClient(ctx, pg.In(ctx).QueueingTx(), sqlc.UpdateClientParams{
		ID: c.ID, Email: c.Email, FirstName: c.FirstName, LastName: c.LastName, Phone: c.Phone, Locale: c.Locale,
		ChangedAt: c.ChangedAt,
	})
}

func (r ClientStore) Erase(ctx context.Context, c tenant.Client, at time.Time) error {
	plain, err := json.Marshal(tenant.MailAddress{Email: c.Email, Locale: c.Locale})
	if err != nil {
		return err
	}
	sealed, err := r.Sealer.Encrypt(secret.Text(plain), pg.ClientAddressAAD(c.ID))
	if err != nil {
		return err
	}
	if err := queries.SealAddress(ctx, pg.In(ctx).QueueingTx(), c.ID, sealed, at); err != nil {
		return err
	}
	mails := sqlc.DeleteUnsentMailsParams{Address: mailaddr.Normalized(c.Email), AccountID: c.AccountID, ClientID: c.ID,
		PartnerID: c.PartnerID}
	if err := queries.DeleteUnsentMails(ctx, pg.In(ctx).QueueingTx(), mails); err != nil {
		return err
	}
	if err := queries.QueueErasure(ctx, pg.In(ctx).QueueingTx(), c.ID, at); err != nil {
		return err
	}
	return queries.EraseClient(ctx, pg.In(ctx).QueueingTx(), at, c.ID)
}

func (r ClientStore) Client(ctx context.Context, partnerID, clientID id.ID) (tenant.Client, error) {
	row, err := queries.ClientOfPartner(ctx, r.DB, clientID, partnerID)
	return toClient(row), pg.ReplaceErrNoRows(err, tenant.ErrNotFound)
}

func (r ClientStore) Clients(ctx context.Context, f partnerports.ClientFilter,
	page ports.Page) (ports.ListPage[tenant.Client], error) {
	l := clientList(f)
	l.AfterCursor(page.Cursor)
	sql :=
		`SELECT c.id, c.account_id, c.partner_id, c.email, c.first_name, c.last_name, c.phone, c.locale, c.created_at,
			c.erased_at, c.changed_at, c.fits, c.n
		FROM ` + l.RowsExpression(page) + ` AS c ORDER BY c.created_at DESC, c.id DESC`
	return lists.ReadPage(ctx, r.DB, l, page, sql, func(row pgx.CollectableRow) (got lists.PageCandidateRow[tenant.Client],
		err error) {
		c := &got.Item
		err = row.Scan(&c.ID, &c.AccountID, &c.PartnerID, &c.Email, &c.FirstName, &c.LastName, &c.Phone, &c.Locale,
			&c.CreatedAt, &c.ErasedAt, &c.ChangedAt,
			&got.Fits, &got.N)
		return got, err
	}, func(c tenant.Client) ports.Cursor { return ports.Cursor{At: c.CreatedAt, ID: c.ID} })
}

// clientList describes the query of the filtered list of clients.
func clientList(f partnerports.ClientFilter) *lists.PageQuery {
	l := &lists.PageQuery{Table: "clients", Identity: []string{"id"}, Order: []string{"created_at", "id"}}
	l.Where("erased_at IS NULL AND partner_id = ?", f.PartnerID)
	switch {
	case f.Email != "":
		l.Where(`lower(email COLLATE "C") = ?`, mailaddr.Normalized(f.Email))
		if !f.AccountID.IsZero() {
			l.Filter("account_id = ?", f.AccountID)
		}
	case !f.AccountID.IsZero():
		l.Where("account_id = ?", f.AccountID)
	}
	// The link is read by a subquery: for EXISTS, Postgres may read all links into a hash table.
	l.Filter(
		`(SELECT true FROM account_links n WHERE n.account_id = clients.account_id AND n.revoked_at IS NULL
			AND n.partner_id = clients.partner_id LIMIT 1)`)
	return l
}

func (r ClientStore) ClientChangedAt(ctx context.Context, clientID id.ID) (time.Time, error) {
	at, err := queries.ClientChanged(ctx, r.DB, clientID)
	return at, pg.ReplaceErrNoRows(err, tenant.ErrNotFound)
}

func (s EncryptedAddressStore) ErasedClientAddress(ctx context.Context, depositID id.ID) (a tenant.MailAddress,
	err error) {
	row, err := queries.SealedAddress(ctx, s.DB, depositID)
	if err != nil {
		return a, pg.ReplaceErrNoRows(err, tenant.ErrNotFound)
	}
	plain, err := s.Sealer.Decrypt(row.Address, pg.ClientAddressAAD(row.ClientID))
	if err != nil {
		return a, err
	}
	return a, json.Unmarshal([]byte(plain.Reveal()), &a)
}

func (s EncryptedAddressStore) DeleteUnneededAddresses(ctx context.Context, limit int, pause time.Duration) (int,
	error) {
	row, err := queries.CheckSealedAddresses(ctx, s.DB, limit, pause)
	return int(row.Checked), err
}

func toClient(row sqlc.Client) tenant.Client {
	return tenant.Client{
		ID: row.ID, AccountID: row.AccountID, PartnerID: row.PartnerID,
		Person: tenant.Person{Email: row.Email, FirstName: row.FirstName, LastName: row.LastName, Phone: row.Phone,
			Locale: row.Locale},
		CreatedAt: row.CreatedAt, ChangedAt: row.ChangedAt, ErasedAt: row.ErasedAt,
	}
}

func (r ClientStore) ClientByID(ctx context.Context, clientID id.ID) (tenant.Client, error) {
	row, err := queries.ClientByID(ctx, r.DB, clientID)
	return toKnownClient(row), pg.ReplaceErrNoRows(err, tenant.ErrNotFound)
}

func (r ClientStore) ClientsByEmail(ctx context.Context, email string, limit int) ([]tenant.Client, error) {
	rows, err := queries.ClientsByEmail(ctx, r.DB, email, limit)
	return pg.ConvertEach(rows, func(row sqlc.ClientsByEmailRow) tenant.Client {
		return toKnownClient(sqlc.ClientByIDRow(row))
	}), err
}

// toKnownClient converts a row to a client as support staff see it, without the field ChangedAt.
func toKnownClient(row sqlc.ClientByIDRow) tenant.Client {
	return toClient(sqlc.Client{
		ID: row.ID, AccountID: row.AccountID, PartnerID: row.PartnerID, Email: row.Email, FirstName: row.FirstName,
		LastName: row.LastName, Phone: row.Phone, Locale: row.Locale, CreatedAt: row.CreatedAt, ErasedAt: row.ErasedAt,
	})
}
