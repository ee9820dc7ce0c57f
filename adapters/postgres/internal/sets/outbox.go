package sets

import (
	"slices"
	"time"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/id"
	"partnerdeposits/ports"
)

var outboxColumns = []column[ports.Event]{
	{name: "event_id", array: "uuid[]", values: of(func(e ports.Event) id.ID { return e.ID })},
	{name: "partner_id", array: "uuid[]", values: of(func(e ports.Event) id.ID { return e.PartnerID })},
	{name: "name", array: "text[]", values: of(func(e ports.Event) string { return string(e.Name) })},
	{name: "deposit_id", array: "uuid[]", values: of(func(e ports.Event) id.ID { return e.DepositID })},
	{name: "data", array: "text[]", values: of(func(e ports.Event) string { return string(e.Data) })},
	{name: "created_at", array: "timestamptz[]", values: of(func(e ports.Event) time.Time { return e.CreatedAt })},
	{name: "request_id", array: "text[]", values: of(func(e ports.Event) *string { return orNull(e.RequestID) })},
}

func orNull(text string) *string {
	if text == "" {
		return nil
	}
	return &text
}

// tracedColumns are outboxColumns with the span of each change; null without one.
var tracedColumns = append(slices.Clone(outboxColumns), column[ports.Event]{
	name: "trace_parent", array: "varchar[]", values: of(func(e ports.Event) *string { return orNull(e.TraceParent) }),
})

var appendEvents, appendTraced = insertInto(outboxColumns), insertInto(tracedColumns)

func insertInto(columns []column[ports.Event]) string {
	return `INSERT INTO outbox (` + names(columns) + `) SELECT ` + selected(columns) + ` FROM ` + from(columns)
}

// AppendEvents writes events to the outbox. Without traces the statement has no column for them.
func AppendEvents(t *pg.Tx, events []ports.Event) {
	t.Appended = true
	if slices.ContainsFunc(events, func(e ports.Event) bool { return e.TraceParent != "" }) {
		t.Queue(appendTraced, arguments(tracedColumns, events)...)
		return
	}
	t.Queue(appendEvents, arguments(outboxColumns, events)...)
}
