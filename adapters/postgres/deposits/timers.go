package deposits

import (
	"time"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
)

func startIdleTimers(t *pg.Tx, rows []newDeposit) {
	var started []*deposit.Deposit
	for _, d := range rows {
		if !d.CheckoutStartedAt.IsZero() {
			started = append(started, d.Deposit)
		}
	}
	setTimers(t, "idle", started, func(d *deposit.Deposit) time.Time { return d.CheckoutStartedAt })
}

// setTimers queues the insert of timers of one kind, such as the end of the cover.
func setTimers(t *pg.Tx, kind string, deposits []*deposit.Deposit, dueAt func(*deposit.Deposit) time.Time) {
	if len(deposits) == 0 {
		return
	}
	t.Queue(`INSERT INTO deposit_timers (kind, due_at, deposit_id)
		SELECT $1, n.due_at, n.deposit_id FROM unnest($2::timestamptz[], $3::uuid[]) AS n(due_at, deposit_id)
		ON CONFLICT DO NOTHING`,
		kind, pg.ConvertEach(deposits, dueAt), pg.ConvertEach(deposits, func(d *deposit.Deposit) id.ID { return d.ID }))
}
