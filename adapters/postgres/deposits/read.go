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

// SelectDepositSQL is the SQL that reads deposits with partner and client. ScanDeposit scans its rows.
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

// PartnerLeftSQL returns the SQL of PartnerLeft for a deposit in the table d: whether its partner has lost the
// link to the account.
func PartnerLeftSQL(d string) string {
	return `(` + d + `.partner_id IS NOT NULL AND NOT ` + d + `.by_partner_api AND ` + d + `.partner_id IS DISTINCT FROM
		(SELECT l.partner_id FROM account_links l WHERE l.account_id = ` + d + `.account_id AND l.revoked_at IS NULL))`
}

// readNames returns the names of the columns that have a field in a deposit, separated by commas.
func readNames() string {
	var list []string
	for _, c := range depositColumns {
		if c.field != nil {
			list = append(list, "d."+c.Name)
		}
	}
	return strings.Join(list, ", ")
}

// ScanDeposit scans a row of SelectDepositSQL. Returns pgx.ErrNoRows; of an unreadable row, the deposit holds
// what could be read.
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

// LockDeposits queues a statement that locks deposits for update and calls found for each; missing or skipped
// (sets.RowLockingSkip) ones are left out. It fails for an unreadable row.
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

// IsClientMissing reports whether a deposit has a client's id but no client: it was erased, or set by another
// transaction while LockDeposits waited.
func IsClientMissing(d *deposit.Deposit) bool { return !d.ClientID.IsZero() && d.Client == nil }

// ReloadMissingClient returns a locked deposit, read again if its client is missing.
func ReloadMissingClient(ctx context.Context, t *pg.Tx, sealer pg.TextCipher, d *deposit.Deposit) (*deposit.Deposit,
	error) {
	if !IsClientMissing(d) {
		return d, nil
	}
	return ScanDeposit(t.QueryRow(ctx, SelectDepositSQL+` WHERE d.id = $1`, d.ID), sealer)
}
