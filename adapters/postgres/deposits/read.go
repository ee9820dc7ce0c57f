package deposits

import (
	"context"
	"fmt"
	"strings"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/internal/sets"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
)

// SelectDepositSQL is the SQL that reads deposits with the partner's name, and with the client unless the client was
// erased. ScanDeposit scans its rows.
var SelectDepositSQL = SelectDepositsSQL("deposits", "")

// SelectDepositsSQL returns the SQL of SelectDepositSQL over a table expression that has the columns of the table
// deposits. more lists further columns to read.
func SelectDepositsSQL(source, more string) string {
	if more != "" {
		more = ", " + more
	}
	return `SELECT ` + readNames() + `, coalesce(p.name, ''),
		coalesce(c.email, ''), coalesce(c.first_name, ''), coalesce(c.last_name, ''), c.id IS NOT NULL,
		CASE WHEN d.url_generation THEN d.checkout_token END` + more + `
	FROM ` + source + ` d LEFT JOIN partners p ON p.id = d.partner_id
		LEFT JOIN clients c ON c.id = d.client_id AND c.erased_at IS NULL`
}

// PartnerLeftSQL returns the SQL expression for the field PartnerLeft of a deposit in the table d: true if the partner
// of a dashboard's deposit has lost its link to the account; otherwise false. The link is read by the account,
// since a single index then serves the query whatever the statistics are.
func PartnerLeftSQL(d string) string {
	return `(` + d + `.partner_id IS NOT NULL AND NOT ` + d + `.by_partner_api AND ` + d + `.partner_id IS DISTINCT FROM
		(SELECT l.partner_id FROM account_links l WHERE l.account_id = ` + d + `.account_id AND l.revoked_at IS NULL))`
}

// readNames returns the names of those columns of the table deposits that have a field in a deposit, separated by
// commas.
func readNames() string {
	var list []string
	for _, c := range depositColumns {
		if c.field != nil {
			list = append(list, "d."+c.Name)
		}
	}
	return strings.Join(list, ", ")
}

// ScanDeposit scans a row of SelectDepositSQL into a deposit, and the further columns into more. Returns
// pgx.ErrNoRows. With the error of a row that cannot be read (pg.Unreadable), or whose checkout token does not
// decrypt, it returns what it has read of the deposit.
func ScanDeposit(row pgx.Row, sealer pg.TextCipher, more ...any) (*deposit.Deposit, error) {
	var d deposit.Deposit
	var client deposit.ClientDetails
	var clientExists bool
	// The encrypted checkout token; nil unless the deposit was created with depositUrlGeneration.
	var sealedToken []byte
	targets := make([]any, 0, len(depositColumns)+6+len(more))
	for _, c := range depositColumns {
		if c.field != nil {
			targets = append(targets, c.field(&d))
		}
	}
	targets = append(targets, &d.PartnerName, &client.Email, &client.FirstName, &client.LastName, &clientExists,
		&sealedToken)
	err := row.Scan(append(targets, more...)...)
	if pg.IsUnreadableRow(err) {
		return &d, fmt.Errorf("deposit %s: %w", id.Deposit.Of(d.ID), err)
	}
	if err != nil {
		return nil, err
	}
	if clientExists {
		client.ID = d.ClientID
		d.Client = &client
	}
	if sealedToken != nil {
		d.CheckoutToken, err = sealer.Decrypt(sealedToken, pg.CheckoutTokenAAD(d.ID))
	}
	return &d, err
}

// LockDeposits queues a statement that locks deposits for update and calls found for each of them. It does not
// call found for a deposit that does not exist, or that another transaction has locked if locking is
// sets.RowLockingSkip. The sending of the queued statements returns pg.Unreadable if one of the deposits cannot be
// read.
func LockDeposits(t *pg.Tx, sealer pg.TextCipher, ids []id.ID, locking sets.RowLocking, found func(*deposit.Deposit)) {
	t.QueueRows(SelectDepositSQL+` WHERE d.id = ANY ($1) FOR UPDATE OF d`+string(locking), []any{ids}, func(row pgx.Rows) error {
		d, err := ScanDeposit(row, sealer)
		if err != nil {
			return pg.BadValueError("deposits", err)
		}
		found(d)
		return nil
	})
}

// IsClientMissing reports whether a deposit has the id of a client but no client. True means that the client was
// erased, or that another transaction set the client while LockDeposits waited: Postgres then joins the new row
// with the clients as they were before the wait.
func IsClientMissing(d *deposit.Deposit) bool { return !d.ClientID.IsZero() && d.Client == nil }

// ReloadMissingClient returns a locked deposit, which it reads again if its client is missing.
func ReloadMissingClient(ctx context.Context, t *pg.Tx, sealer pg.TextCipher, d *deposit.Deposit) (*deposit.Deposit,
	error) {
	if !IsClientMissing(d) {
		return d, nil
	}
	return ScanDeposit(t.QueryRow(ctx, SelectDepositSQL+` WHERE d.id = $1`, d.ID), sealer)
}
