package sets

import (
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
}

var appendEvents = `INSERT INTO outbox (` + names(outboxColumns) + `) SELECT ` + selected(outboxColumns) + ` FROM ` + from(outboxColumns)

// AppendEvents writes events to the outbox.
func AppendEvents(t *pg.Tx, events []ports.Event) {
	t.Appended = true
	t.Queue(appendEvents, arguments(outboxColumns, events)...)
}
