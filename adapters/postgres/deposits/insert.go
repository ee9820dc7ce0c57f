package deposits

import (
	"crypto/sha256"
	"errors"
	"slices"
	"strings"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/internal/sets"
	"partnerdeposits/core/secret"
	ports "partnerdeposits/ports/platform"
)

var (
	insertFresh    = insertDeposits(variedColumns, "")
	insertAny      = insertDeposits(insertedColumns, "")
	insertUntaken  = insertDeposits(insertedColumns, " ON CONFLICT (reference) DO NOTHING")
	referencesLive = `SELECT 1 / (EXISTS (SELECT FROM accounts WHERE id = $1) AND ($2::uuid IS NULL OR EXISTS (SELECT
		FROM partners WHERE id = $2))
		AND ($3::uuid IS NULL OR EXISTS (SELECT FROM clients WHERE id = $3)))::int`
)

// insertDeposits returns the SQL that inserts deposits with their timers. arrays lists the columns passed as
// arrays.
func insertDeposits(arrays []sets.Column[newDeposit], onConflict string) string {
	values := pg.ConvertEach(insertedColumns, func(c sets.Column[newDeposit]) string {
		for _, given := range arrays {
			if given.Name == c.Name {
				return "n." + c.Name + c.Cast
			}
		}
		return freshValues[c.Name]
	})
	return `WITH made AS (
		INSERT INTO deposits (` + sets.ColumnNames(insertedColumns) + `) SELECT ` + strings.Join(values, ", ") + ` FROM ` +
		sets.FromClause(arrays) + onConflict + `
		RETURNING id, checkout_expires_at)
	INSERT INTO deposit_timers (kind, due_at, deposit_id) SELECT 'checkout', made.checkout_expires_at, made.id FROM made`
}

// InsertDeposits queues the insert of deposits with their timers. The transaction must have locked the rows
// that they refer to. Fails with ports.ErrReferenceTaken.
func InsertDeposits(t *pg.Tx, sealer pg.TextCipher, deposits []ports.NewDeposit) error {
	rows, err := newDeposits(sealer, deposits)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(rows, func(d newDeposit) bool { return !isFresh(d.Deposit) }) {
		t.Queue(insertAny, sets.ArrayArguments(insertedColumns, rows)...)
	} else {
		t.Queue(insertFresh, sets.ArrayArguments(variedColumns, rows)...)
	}
	startIdleTimers(t, rows)
	return nil
}

// InsertDeposit inserts a deposit with its timers and calls inserted: with false if its reference is taken.
// Fails with ErrRelatedRowMissing.
func InsertDeposit(t *pg.Tx, sealer pg.TextCipher, d ports.NewDeposit, inserted func(bool)) error {
	rows, err := newDeposits(sealer, []ports.NewDeposit{d})
	if err != nil {
		return err
	}
	t.Queue(referencesLive, d.Deposit.AccountID, d.Deposit.PartnerID,
		d.Deposit.ClientID).QueryRow(func(row pgx.Row) error {
		var guard int
		return sets.TranslateMissingRows(row.Scan(&guard), ErrRelatedRowMissing)
	})
	t.Queue(insertUntaken, sets.ArrayArguments(insertedColumns, rows)...).Exec(func(tag pgconn.CommandTag) error {
		inserted(tag.RowsAffected() == 1)
		return nil
	})
	startIdleTimers(t, rows)
	return nil
}

// ErrRelatedRowMissing is the error for a deposit that refers to an account, a partner or a client that does not
// exist.
var ErrRelatedRowMissing = errors.New("postgres: the account, the partner or the client of a deposit does not exist")

func newDeposits(sealer pg.TextCipher, deposits []ports.NewDeposit) ([]newDeposit, error) {
	rows := make([]newDeposit, len(deposits))
	for i, d := range deposits {
		sealed, err := sealer.Encrypt(d.CheckoutToken, pg.CheckoutTokenAAD(d.Deposit.ID))
		if err != nil {
			return nil, err
		}
		rows[i] = newDeposit{Deposit: d.Deposit, tokenHash: HashCheckoutToken(d.CheckoutToken), sealedToken: sealed}
	}
	return rows, nil
}

// HashCheckoutToken returns the SHA-256 of a checkout token, by which the token's deposit is found; it is
// random enough for a fast hash.
func HashCheckoutToken(token secret.Text) []byte {
	h := sha256.Sum256([]byte(token.Reveal()))
	return h[:]
}
