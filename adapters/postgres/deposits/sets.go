package deposits

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/jackc/pgx/v5/pgconn"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/internal/sets"
	"partnerdeposits/adapters/postgres/partners"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	"partnerdeposits/core/secret"
	ports "partnerdeposits/ports/platform"
)

// SelectDeposit reads deposits with the partner's name, and with the client unless the client was erased. ScanDeposit
// scans the rows.
var SelectDeposit = SelectDepositsOf("deposits", "")

// SelectDepositsOf is SelectDeposit over a table expression with the columns of deposits. more lists further columns.
func SelectDepositsOf(source, more string) string {
	if more != "" {
		more = ", " + more
	}
	return `SELECT ` + readNames() + `, coalesce(p.name, ''),
		coalesce(c.email, ''), coalesce(c.first_name, ''), coalesce(c.last_name, ''), c.id IS NOT NULL, CASE WHEN d.url_generation THEN d.checkout_token END` + more + `
	FROM ` + source + ` d LEFT JOIN partners p ON p.id = d.partner_id LEFT JOIN clients c ON c.id = d.client_id AND c.erased_at IS NULL`
}

// PartnerLeft is deposit.Deposit.PartnerLeft of the table d, for SelectDepositsOf. Links are looked up for deposits of
// the dashboard alone, by the account, since a single index answers that whatever the statistics say.
func PartnerLeft(d string) string {
	return `(` + d + `.partner_id IS NOT NULL AND NOT ` + d + `.by_partner_api AND ` + d + `.partner_id IS DISTINCT FROM
		(SELECT l.partner_id FROM account_links l WHERE l.account_id = ` + d + `.account_id AND l.revoked_at IS NULL))`
}

// readNames lists the columns that a deposit carries, separated by commas.
func readNames() string {
	var list []string
	for _, c := range depositColumns {
		if c.field != nil {
			list = append(list, "d."+c.Name)
		}
	}
	return strings.Join(list, ", ")
}

// ScanDeposit scans a row of SelectDeposit, and further columns into more. Returns pgx.ErrNoRows. If the checkout token
// does not decrypt, ScanDeposit returns an error with the deposit.
func ScanDeposit(row pgx.Row, sealer pg.Sealer, more ...any) (*deposit.Deposit, error) {
	var d deposit.Deposit
	var client deposit.Client
	var clientExists bool
	var sealedToken []byte // nil unless the deposit was created with depositUrlGeneration
	targets := make([]any, 0, len(depositColumns)+6+len(more))
	for _, c := range depositColumns {
		if c.field != nil {
			targets = append(targets, c.field(&d))
		}
	}
	targets = append(targets, &d.PartnerName, &client.Email, &client.FirstName, &client.LastName, &clientExists, &sealedToken)
	err := row.Scan(append(targets, more...)...)
	if err != nil {
		return nil, err
	}
	if clientExists {
		client.ID = d.ClientID
		d.Client = &client
	}
	if sealedToken != nil {
		d.CheckoutToken, err = sealer.Open(sealedToken, pg.CheckoutAAD(d.ID))
	}
	return &d, err
}

// LockDeposits locks deposits for update and calls found for each. found is not called for a deposit that does not
// exist, or that sets.SkipLocked skipped.
func LockDeposits(t *pg.Tx, sealer pg.Sealer, ids []id.ID, locking sets.Locking, found func(*deposit.Deposit)) {
	t.Rows(SelectDeposit+` WHERE d.id = ANY ($1) FOR UPDATE OF d`+string(locking), []any{ids}, func(row pgx.Rows) error {
		d, err := ScanDeposit(row, sealer)
		if err == nil {
			found(d)
		}
		return err
	})
}

// MissesClient reports whether d has a client id but no client. Either the client was erased, or another transaction
// set the client while LockDeposits waited: Postgres then joins the new row with the clients as they were before the
// wait.
func MissesClient(d *deposit.Deposit) bool { return !d.ClientID.IsZero() && d.Client == nil }

// WithClient reads a locked deposit again if its client is missing.
func WithClient(ctx context.Context, t *pg.Tx, sealer pg.Sealer, d *deposit.Deposit) (*deposit.Deposit, error) {
	if !MissesClient(d) {
		return d, nil
	}
	return ScanDeposit(t.QueryRow(ctx, SelectDeposit+` WHERE d.id = $1`, d.ID), sealer)
}

// newDeposit is a deposit to insert, with the hash and the ciphertext of its checkout token.
type newDeposit struct {
	*deposit.Deposit
	tokenHash, sealedToken []byte
}

// depositColumn is a column of the table deposits. field gives the address of the field that ScanDeposit fills; nil if
// a deposit has no such field.
type depositColumn struct {
	sets.Column[newDeposit]
	field func(*deposit.Deposit) any
}

// plain is a column that is written and read with the type of its field.
func plain[V any](name, array string, field func(*deposit.Deposit) *V) depositColumn {
	return depositColumn{
		Column: sets.Column[newDeposit]{Name: name, Array: array, Values: sets.Of(func(d newDeposit) V { return *field(d.Deposit) })},
		field:  func(d *deposit.Deposit) any { return field(d) },
	}
}

// writtenAs is a column that is read with the type of its field and written as a W, which pgx has an array type for.
func writtenAs[W, V any](name, array string, field func(*deposit.Deposit) *V, write func(V) W) depositColumn {
	return depositColumn{
		Column: sets.Column[newDeposit]{Name: name, Array: array, Values: sets.Of(func(d newDeposit) W { return write(*field(d.Deposit)) })},
		field:  func(d *deposit.Deposit) any { return field(d) },
	}
}

// depositColumns are all columns of the table deposits.
var depositColumns = []depositColumn{
	plain("id", "uuid[]", func(d *deposit.Deposit) *id.ID { return &d.ID }),
	plain("reference", "text[]", func(d *deposit.Deposit) *string { return &d.Reference }),
	writtenAs("status", "text[]", func(d *deposit.Deposit) *deposit.Status { return &d.Status }, func(v deposit.Status) string { return string(v) }),
	plain("status_reason", "text[]", func(d *deposit.Deposit) *string { return &d.StatusReason }),
	writtenAs("version", "int[]", func(d *deposit.Deposit) *int { return &d.Version }, func(v int) int32 { return int32(v) }),
	plain("account_id", "uuid[]", func(d *deposit.Deposit) *id.ID { return &d.AccountID }),
	plain("partner_id", "uuid[]", func(d *deposit.Deposit) *id.ID { return &d.PartnerID }),
	plain("by_partner_api", "bool[]", func(d *deposit.Deposit) *bool { return &d.ByPartnerAPI }),
	plain("external_id", "text[]", func(d *deposit.Deposit) *string { return &d.ExternalID }),
	plain("client_id", "uuid[]", func(d *deposit.Deposit) *id.ID { return &d.ClientID }),
	writtenAs("amount_cents", "bigint[]", func(d *deposit.Deposit) *money.Cents { return &d.Amount }, func(v money.Cents) int64 { return int64(v) }),
	writtenAs("captured_cents", "bigint[]", func(d *deposit.Deposit) *money.Cents { return &d.CapturedAmount }, func(v money.Cents) int64 { return int64(v) }),
	plain("contract_start_at", "timestamptz[]", func(d *deposit.Deposit) *time.Time { return &d.ContractStartAt }),
	plain("contract_end_at", "timestamptz[]", func(d *deposit.Deposit) *time.Time { return &d.ContractEndAt }),
	plain("rental_contract", "text[]", func(d *deposit.Deposit) *string { return &d.RentalContract }),
	plain("return_url", "text[]", func(d *deposit.Deposit) *string { return &d.ReturnURL }),
	plain("url_generation", "bool[]", func(d *deposit.Deposit) *bool { return &d.URLGeneration }),
	{
		Column: sets.Column[newDeposit]{Name: "metadata", Array: "text[]", Cast: "::jsonb", Values: sets.Of(func(d newDeposit) string { return *jsonText(orEmpty(d.Metadata)) })},
		field:  func(d *deposit.Deposit) any { return &d.Metadata },
	},
	plain("locale", "text[]", func(d *deposit.Deposit) *string { return &d.Locale }),
	{Column: sets.Column[newDeposit]{Name: "checkout_token_hash", Array: "bytea[]", Values: sets.Of(func(d newDeposit) []byte { return d.tokenHash })}},
	{Column: sets.Column[newDeposit]{Name: "checkout_token", Array: "bytea[]", Values: sets.Of(func(d newDeposit) []byte { return d.sealedToken })}},
	plain("checkout_expires_at", "timestamptz[]", func(d *deposit.Deposit) *time.Time { return &d.CheckoutExpiresAt }),
	plain("checkout_started_at", "timestamptz[]", func(d *deposit.Deposit) *time.Time { return &d.CheckoutStartedAt }),
	plain("activated_at", "timestamptz[]", func(d *deposit.Deposit) *time.Time { return &d.ActivatedAt }),
	plain("expires_at", "timestamptz[]", func(d *deposit.Deposit) *time.Time { return &d.ExpiresAt }),
	plain("cancelled_at", "timestamptz[]", func(d *deposit.Deposit) *time.Time { return &d.CancelledAt }),
	plain("closed_at", "timestamptz[]", func(d *deposit.Deposit) *time.Time { return &d.ClosedAt }),
	plain("captured_at", "timestamptz[]", func(d *deposit.Deposit) *time.Time { return &d.CapturedAt }),
	plain("created_at", "timestamptz[]", func(d *deposit.Deposit) *time.Time { return &d.CreatedAt }),
	plain("updated_at", "timestamptz[]", func(d *deposit.Deposit) *time.Time { return &d.UpdatedAt }),
}

// insertedColumns are the columns that an INSERT writes: all of them.
var insertedColumns = pg.Each(depositColumns, func(c depositColumn) sets.Column[newDeposit] { return c.Column })

// freshValues are the columns that are alike in all new deposits (deposit.New), with their SQL. A statement that names
// them needs no arrays for them: a third of the columns.
var freshValues = map[string]string{
	"status": "'pending'", "status_reason": "''", "version": "1", "captured_cents": "0", "checkout_started_at": "NULL", "activated_at": "NULL",
	"expires_at": "NULL", "cancelled_at": "NULL", "closed_at": "NULL", "captured_at": "NULL", "updated_at": "n.created_at",
}

// isFresh reports whether a deposit has the freshValues.
func isFresh(d *deposit.Deposit) bool {
	return d.Status == deposit.Pending && d.StatusReason == "" && d.Version == 1 && d.CapturedAmount == 0 && d.CheckoutStartedAt.IsZero() &&
		d.ActivatedAt.IsZero() && d.ExpiresAt.IsZero() && d.CancelledAt.IsZero() && d.ClosedAt.IsZero() && d.CapturedAt.IsZero() && d.UpdatedAt.Equal(d.CreatedAt)
}

// variedColumns are the insertedColumns without freshValues.
var variedColumns = slices.DeleteFunc(slices.Clone(insertedColumns), func(c sets.Column[newDeposit]) bool { return freshValues[c.Name] != "" })

var (
	insertFresh    = insertDeposits(variedColumns, "")
	insertAny      = insertDeposits(insertedColumns, "")
	insertUntaken  = insertDeposits(insertedColumns, " ON CONFLICT (reference) DO NOTHING")
	referencesLive = `SELECT 1 / (EXISTS (SELECT FROM accounts WHERE id = $1) AND ($2::uuid IS NULL OR EXISTS (SELECT FROM partners WHERE id = $2))
		AND ($3::uuid IS NULL OR EXISTS (SELECT FROM clients WHERE id = $3)))::int`
)

// insertDeposits is the statement that inserts deposits with their timers. The arrays have the given columns.
func insertDeposits(arrays []sets.Column[newDeposit], onConflict string) string {
	values := pg.Each(insertedColumns, func(c sets.Column[newDeposit]) string {
		for _, given := range arrays {
			if given.Name == c.Name {
				return "n." + c.Name + c.Cast
			}
		}
		return freshValues[c.Name]
	})
	return `WITH made AS (
		INSERT INTO deposits (` + sets.Names(insertedColumns) + `) SELECT ` + strings.Join(values, ", ") + ` FROM ` + sets.From(arrays) + onConflict + `
		RETURNING id, checkout_expires_at)
	INSERT INTO deposit_timers (kind, due_at, deposit_id) SELECT 'checkout', made.checkout_expires_at, made.id FROM made`
}

// InsertDeposits inserts deposits with their timers. The transaction has locked the rows that the deposits refer to:
// the database does not check these references. If a reference is taken, the transaction fails with
// ports.ErrReferenceTaken.
func InsertDeposits(t *pg.Tx, sealer pg.Sealer, deposits []ports.NewDeposit) error {
	rows, err := newDeposits(sealer, deposits)
	if err != nil {
		return err
	}
	if slices.ContainsFunc(rows, func(d newDeposit) bool { return !isFresh(d.Deposit) }) {
		t.Queue(insertAny, sets.Arguments(insertedColumns, rows)...)
	} else {
		t.Queue(insertFresh, sets.Arguments(variedColumns, rows)...)
	}
	startIdleTimers(t, rows)
	return nil
}

// InsertDeposit inserts a deposit with its timers, and calls inserted with false if the deposit's reference is taken.
// If the account, the partner or the client does not exist, the transaction fails with ErrMissingReference.
func InsertDeposit(t *pg.Tx, sealer pg.Sealer, d ports.NewDeposit, inserted func(bool)) error {
	rows, err := newDeposits(sealer, []ports.NewDeposit{d})
	if err != nil {
		return err
	}
	t.Queue(referencesLive, d.Deposit.AccountID, d.Deposit.PartnerID, d.Deposit.ClientID).QueryRow(func(row pgx.Row) error {
		var guard int
		return sets.UnlessAll(row.Scan(&guard), ErrMissingReference)
	})
	t.Queue(insertUntaken, sets.Arguments(insertedColumns, rows)...).Exec(func(tag pgconn.CommandTag) error {
		inserted(tag.RowsAffected() == 1)
		return nil
	})
	startIdleTimers(t, rows)
	return nil
}

// ErrMissingReference says that a deposit refers to an account, a partner or a client that does not exist.
var ErrMissingReference = errors.New("postgres: the account, the partner or the client of a deposit does not exist")

// newDeposits adds the hashes and the ciphertexts of the checkout tokens.
func newDeposits(sealer pg.Sealer, deposits []ports.NewDeposit) ([]newDeposit, error) {
	rows := make([]newDeposit, len(deposits))
	for i, d := range deposits {
		sealed, err := sealer.Seal(d.CheckoutToken, pg.CheckoutAAD(d.Deposit.ID))
		if err != nil {
			return nil, err
		}
		rows[i] = newDeposit{Deposit: d.Deposit, tokenHash: TokenHash(d.CheckoutToken), sealedToken: sealed}
	}
	return rows, nil
}

func startIdleTimers(t *pg.Tx, rows []newDeposit) {
	var started []*deposit.Deposit
	for _, d := range rows {
		if !d.CheckoutStartedAt.IsZero() {
			started = append(started, d.Deposit)
		}
	}
	setTimers(t, "idle", started, func(d *deposit.Deposit) time.Time { return d.CheckoutStartedAt })
}

// TokenHash is the SHA-256 of a checkout token, by which its deposit is found. The token is random enough for a fast
// hash.
func TokenHash(token secret.Text) []byte {
	h := sha256.Sum256([]byte(token.Reveal()))
	return h[:]
}

// transitionColumns are the columns that a transition writes to the deposit and to its history. The first three find the
// deposit.
var transitionColumns = []sets.Column[ports.DepositTransition]{
	{Name: "id", Array: "uuid[]", Values: sets.Of(func(m ports.DepositTransition) id.ID { return m.Transition.DepositID })},
	{Name: "version", Array: "int[]", Values: sets.Of(func(m ports.DepositTransition) int32 { return int32(m.Transition.Version) })},
	{Name: "from_status", Array: "text[]", Values: sets.Of(func(m ports.DepositTransition) string { return string(m.Transition.From) })},
	{Name: "to_status", Array: "text[]", Values: sets.Of(func(m ports.DepositTransition) string { return string(m.Transition.To) })},
	{Name: "trigger", Array: "text[]", Values: sets.Of(func(m ports.DepositTransition) string { return string(m.Transition.Trigger) })},
	{Name: "at", Array: "timestamptz[]", Values: sets.Of(func(m ports.DepositTransition) time.Time { return m.Transition.At })},
	{Name: "actor", Array: "text[]", Values: sets.Of(func(m ports.DepositTransition) string { return m.Transition.Actor.String() })},
	{Name: "detail", Array: "text[]", Cast: "::jsonb", Values: sets.Of(func(m ports.DepositTransition) *string { return jsonText(m.Transition.Detail) })},
	{Name: "event_id", Array: "uuid[]", Values: sets.Of(func(m ports.DepositTransition) id.ID { return m.Transition.EventID })},
	{Name: "status_reason", Array: "text[]", Values: sets.Of(func(m ports.DepositTransition) string { return m.Deposit.StatusReason })},
	{Name: "captured_cents", Array: "bigint[]", Values: sets.Of(func(m ports.DepositTransition) int64 { return int64(m.Deposit.CapturedAmount) })},
	{Name: "client_id", Array: "uuid[]", Values: sets.Of(func(m ports.DepositTransition) id.ID { return m.Deposit.ClientID })},
	{Name: "checkout_started_at", Array: "timestamptz[]", Values: sets.Of(func(m ports.DepositTransition) time.Time { return m.Deposit.CheckoutStartedAt })},
	{Name: "activated_at", Array: "timestamptz[]", Values: sets.Of(func(m ports.DepositTransition) time.Time { return m.Deposit.ActivatedAt })},
	{Name: "expires_at", Array: "timestamptz[]", Values: sets.Of(func(m ports.DepositTransition) time.Time { return m.Deposit.ExpiresAt })},
	{Name: "cancelled_at", Array: "timestamptz[]", Values: sets.Of(func(m ports.DepositTransition) time.Time { return m.Deposit.CancelledAt })},
	{Name: "closed_at", Array: "timestamptz[]", Values: sets.Of(func(m ports.DepositTransition) time.Time { return m.Deposit.ClosedAt })},
	{Name: "captured_at", Array: "timestamptz[]", Values: sets.Of(func(m ports.DepositTransition) time.Time { return m.Deposit.CapturedAt })},
	{Name: "updated_at", Array: "timestamptz[]", Values: sets.Of(func(m ports.DepositTransition) time.Time { return m.Deposit.UpdatedAt })},
}

// The statement divides by zero if a deposit has another status or version by now; the error undoes the transaction.
var moveDeposits = `WITH moved AS (
		UPDATE deposits d SET status = n.to_status, status_reason = n.status_reason, version = n.version, captured_cents = n.captured_cents,
			client_id = n.client_id, checkout_started_at = n.checkout_started_at, activated_at = n.activated_at, expires_at = n.expires_at,
			cancelled_at = n.cancelled_at, closed_at = n.closed_at, captured_at = n.captured_at, updated_at = n.updated_at
		FROM ` + sets.From(transitionColumns) + `
		WHERE d.id = n.id AND d.version = n.version - 1 AND d.status = n.from_status
		RETURNING n.id, n.version, n.from_status, n.to_status, n.trigger, n.at, n.actor, n.detail, n.event_id),
	recorded AS (
		INSERT INTO deposit_transitions (deposit_id, version, from_status, to_status, trigger, at, actor, detail, event_id)
		SELECT m.id, m.version, m.from_status, m.to_status, m.trigger, m.at, m.actor, m.detail::jsonb, m.event_id FROM moved m)
	SELECT 1 / (count(*) = ` + sets.Param(transitionColumns, 1) + `)::int FROM moved`

// StoreTransitions stores deposits after a transition, and adds the transition to their history. If another transaction has
// moved a deposit, the transaction fails with ports.ErrStale. The clients that the deposits have are held
// (HoldClients), since events and responses tell of them.
func StoreTransitions(t *pg.Tx, moves []ports.DepositTransition) {
	partners.HoldClients(t, toldClients(moves))
	t.Queue(moveDeposits, sets.Arguments(transitionColumns, moves, len(moves))...).QueryRow(func(row pgx.Row) error {
		var guard int
		return sets.UnlessAll(row.Scan(&guard), ports.ErrStale)
	})
	var active []*deposit.Deposit
	for _, m := range moves {
		if m.Transition.To == deposit.Active {
			active = append(active, m.Deposit)
		}
	}
	setTimers(t, "coverage", active, func(d *deposit.Deposit) time.Time { return d.ExpiresAt })
}

// toldClients are the clients that the events and the responses of moves tell of.
func toldClients(moves []ports.DepositTransition) (ids []id.ID) {
	for _, m := range moves {
		if m.Deposit.Client != nil {
			ids = append(ids, m.Deposit.ClientID)
		}
	}
	return ids
}

// setTimers adds timers of one kind, if there are any.
func setTimers(t *pg.Tx, kind string, deposits []*deposit.Deposit, dueAt func(*deposit.Deposit) time.Time) {
	if len(deposits) == 0 {
		return
	}
	t.Queue(`INSERT INTO deposit_timers (kind, due_at, deposit_id)
		SELECT $1, n.due_at, n.deposit_id FROM unnest($2::timestamptz[], $3::uuid[]) AS n(due_at, deposit_id) ON CONFLICT DO NOTHING`,
		kind, pg.Each(deposits, dueAt), pg.Each(deposits, func(d *deposit.Deposit) id.ID { return d.ID }))
}

// jsonText encodes a map as JSON; nil becomes NULL.
func jsonText(m map[string]string) *string {
	if m == nil {
		return nil
	}
	b, _ := json.Marshal(m)
	s := string(b)
	return &s
}

func orEmpty(m map[string]string) map[string]string {
	if m == nil {
		return map[string]string{}
	}
	return m
}
