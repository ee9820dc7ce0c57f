package platform

import (
	"slices"
	"time"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/adapters/postgres/internal/sets"
	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
)

var outboxColumns = []sets.Column[ports.Event]{
	{Name: "event_id", Array: "uuid[]", Values: sets.ColumnValuesFunc(func(e ports.Event) id.ID { return e.ID })},
	{Name: "partner_id", Array: "uuid[]", Values: sets.ColumnValuesFunc(func(e ports.Event) id.ID { return e.PartnerID })},
	{Name: "name", Array: "text[]", Values: sets.ColumnValuesFunc(func(e ports.Event) string { return string(e.Name) })},
	{Name: "deposit_id", Array: "uuid[]", Values: sets.ColumnValuesFunc(func(e ports.Event) id.ID { return e.DepositID })},
	{Name: "data", Array: "text[]", Values: sets.ColumnValuesFunc(func(e ports.Event) string { return string(e.Data) })},
	{Name: "created_at", Array: "timestamptz[]",
		Values: sets.ColumnValuesFunc(func(e ports.Event) time.Time { return e.CreatedAt })},
	{Name: "request_id", Array: "text[]",
		Values: sets.ColumnValuesFunc(func(e ports.Event) *string { return orNull(e.RequestID) })},
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// tracedColumns are the columns of the outbox that are written if any event has a trace.
var tracedColumns = append(slices.Clone(outboxColumns), sets.Column[ports.Event]{
	Name: "trace_parent", Array: "varchar[]",
	Values: sets.ColumnValuesFunc(func(e ports.Event) *string { return orNull(e.TraceParent) }),
})

var appendEvents, appendTraced = insertInto(outboxColumns), insertInto(tracedColumns)

func insertInto(columns []sets.Column[ports.Event]) string {
	return `INSERT INTO outbox (` + sets.ColumnNames(columns) + `) SELECT ` + sets.SelectColumns(columns) + ` FROM ` +
		sets.FromClause(columns)
}

// AppendEvents queues the insert of events into the outbox.
func AppendEvents(t *pg.Tx, events []ports.Event) {
	t.Appended = true
	if slices.ContainsFunc(events, func(e ports.Event) bool { return e.TraceParent != "" }) {
		t.Queue(appendTraced, sets.ArrayArguments(tracedColumns, events)...)
		return
	}
	t.Queue(appendEvents, sets.ArrayArguments(outboxColumns, events)...)
}
