package deposits

import (
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/internal/sets"
	"partnerdeposits/adapters/postgres/partners"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
)

// transitionColumns lists the columns that a transition writes; the first three identify the deposit.
var transitionColumns = []sets.Column[ports.DepositTransition]{
	{Name: "id", Array: "uuid[]",
		Values: sets.ColumnValuesFunc(func(m ports.DepositTransition) id.ID { return m.Transition.DepositID })},
	{Name: "version", Array: "int[]",
		Values: sets.ColumnValuesFunc(func(m ports.DepositTransition) int32 { return int32(m.Transition.Version) })},
	{Name: "from_status", Array: "text[]",
		Values: sets.ColumnValuesFunc(func(m ports.DepositTransition) string { return string(m.Transition.From) })},
	{Name: "to_status", Array: "text[]",
		Values: sets.ColumnValuesFunc(func(m ports.DepositTransition) string { return string(m.Transition.To) })},
	{Name: "trigger", Array: "text[]",
		Values: sets.ColumnValuesFunc(func(m ports.DepositTransition) string { return string(m.Transition.Trigger) })},
	{Name: "at", Array: "timestamptz[]",
		Values: sets.ColumnValuesFunc(func(m ports.DepositTransition) time.Time { return m.Transition.At })},
	{Name: "actor", Array: "text[]",
		Values: sets.ColumnValuesFunc(func(m ports.DepositTransition) string { return m.Transition.Actor.String() })},
	{Name: "detail", Array: "text[]", Cast: "::jsonb",
		Values: sets.ColumnValuesFunc(func(m ports.DepositTransition) *string { return jsonText(m.Transition.Detail) })},
	{Name: "event_id", Array: "uuid[]",
		Values: sets.ColumnValuesFunc(func(m ports.DepositTransition) id.ID { return m.Transition.EventID })},
	{Name: "status_reason", Array: "text[]",
		Values: sets.ColumnValuesFunc(func(m ports.DepositTransition) string { return m.Deposit.StatusReason })},
	{Name: "captured_cents", Array: "bigint[]",
		Values: sets.ColumnValuesFunc(func(m ports.DepositTransition) int64 { return int64(m.Deposit.CapturedAmount) })},
	{Name: "client_id", Array: "uuid[]",
		Values: sets.ColumnValuesFunc(func(m ports.DepositTransition) id.ID { return m.Deposit.ClientID })},
	{Name: "checkout_started_at", Array: "timestamptz[]",
		Values: sets.ColumnValuesFunc(func(m ports.DepositTransition) time.Time { return m.Deposit.CheckoutStartedAt })},
	{Name: "activated_at", Array: "timestamptz[]",
		Values: sets.ColumnValuesFunc(func(m ports.DepositTransition) time.Time { return m.Deposit.ActivatedAt })},
	{Name: "expires_at", Array: "timestamptz[]",
		Values: sets.ColumnValuesFunc(func(m ports.DepositTransition) time.Time { return m.Deposit.ExpiresAt })},
	{Name: "cancelled_at", Array: "timestamptz[]",
		Values: sets.ColumnValuesFunc(func(m ports.DepositTransition) time.Time { return m.Deposit.CancelledAt })},
	{Name: "closed_at", Array: "timestamptz[]",
		Values: sets.ColumnValuesFunc(func(m ports.DepositTransition) time.Time { return m.Deposit.ClosedAt })},
	{Name: "captured_at", Array: "timestamptz[]",
		Values: sets.ColumnValuesFunc(func(m ports.DepositTransition) time.Time { return m.Deposit.CapturedAt })},
	{Name: "updated_at", Array: "timestamptz[]",
		Values: sets.ColumnValuesFunc(func(m ports.DepositTransition) time.Time { return m.Deposit.UpdatedAt })},
}

// moveDeposits is the SQL that stores transitions. It divides by zero, and so rolls back, if a deposit has
// another status or version.
var moveDeposits = `WITH moved AS (
		UPDATE deposits d SET status = n.to_status, status_reason = n.status_reason, version = n.version,
		captured_cents = n.captured_cents,
			client_id = n.client_id, checkout_started_at = n.checkout_started_at, activated_at = n.activated_at,
			expires_at = n.expires_at,
			cancelled_at = n.cancelled_at, closed_at = n.closed_at, captured_at = n.captured_at, updated_at = n.updated_at
		FROM ` + sets.FromClause(transitionColumns) + `
		WHERE d.id = n.id AND d.version = n.version - 1 AND d.status = n.from_status
		RETURNING n.id, n.version, n.from_status, n.to_status, n.trigger, n.at, n.actor, n.detail, n.event_id),
	recorded AS (
		INSERT INTO deposit_transitions (deposit_id, version, from_status, to_status, trigger, at, actor, detail, event_id)
		SELECT m.id, m.version, m.from_status, m.to_status, m.trigger, m.at, m.actor, m.detail::jsonb, m.event_id
		FROM moved m)
	SELECT 1 / (count(*) = ` + sets.ExtraParam(transitionColumns, 1) + `)::int FROM moved`

// StoreTransitions stores deposits after a transition, with their history. Fails with ports.ErrStaleVersion.
// Clients are locked against erasure, since events contain them.
func StoreTransitions(t *pg.Tx, moves []ports.DepositTransition) {
	partners.LockClientsAgainstErasure(t, toldClients(moves))
	t.Queue(moveDeposits, sets.ArrayArguments(transitionColumns, moves, len(moves))...).QueryRow(func(row pgx.Row) error {
		var guard int
		return sets.TranslateMissingRows(row.Scan(&guard), ports.ErrStaleVersion)
	})
	var active []*deposit.Deposit
	for _, m := range moves {
		if m.Transition.To == deposit.Active {
			active = append(active, m.Deposit)
		}
	}
	setTimers(t, "coverage", active, func(d *deposit.Deposit) time.Time { return d.ExpiresAt })
}

// toldClients returns the ids of the clients that the events and responses of transitions contain.
func toldClients(moves []ports.DepositTransition) (ids []id.ID) {
	for _, m := range moves {
		if m.Deposit.Client != nil {
			ids = append(ids, m.Deposit.ClientID)
		}
	}
	return ids
}
