package deposits

import (
	"context"
	"errors"
	"maps"
	"time"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/ports/platform/batch"
)

// MaxReadBatchConns is the number of connections to Postgres that batches of reads of deposits use at once.
const MaxReadBatchConns = 2

const (
	readLimit = 128 // The most deposits that one batch of reads returns.
	// The number of waiting reads of deposits above which a second batch starts; a large batch costs less per read.
	readThreshold = 32
	// The time limit of a batch of reads for several callers.
	readTimeout = 5 * time.Second
)

var readDeposits = SelectDepositsSQL("deposits", PartnerLeftSQL("d")) + ` WHERE d.id = ANY ($1)`

// depositReads reads deposits by id in batches: reads that arrive while a statement runs share the next, so
// each sees every change committed before it.
type depositReads struct {
	db     pg.DB
	sealer pg.TextCipher
	queue  batch.Queue[*depositRead]
}

func newDepositReads(db pg.DB, sealer pg.TextCipher) *depositReads {
	r := &depositReads{db: db, sealer: sealer}
	r.queue.Workers, r.queue.Limit, r.queue.Threshold, r.queue.Run = MaxReadBatchConns, readLimit, readThreshold, r.run
	return r
}

type depositRead struct {
	ctx   context.Context
	id    id.ID
	found *deposit.Deposit // The deposit that was read; nil if it does not exist.
	err   error
	// Whether the batch failed and this read is repeated alone.
	alone bool
}

// one reads a deposit by its id. Returns deposit.ErrNotFound or service_unavailable.
func (r *depositReads) one(ctx context.Context, depositID id.ID) (*deposit.Deposit, error) {
	read := &depositRead{ctx: ctx, id: depositID}
	if err := r.queue.AddAndWaitContext(ctx, read); err != nil {
		// Return no result: the batch is still running and may write the result at any moment.
		return nil, fault.ErrUnavailable.WithCause(err)
	}
	if read.alone {
		read = &depositRead{ctx: ctx, id: depositID}
		r.run([]*depositRead{read})
	}
	switch {
	case pg.IsUnreadableRow(read.err):
		r.db.ReportUnreadableRow(ctx, "deposits", depositID, read.err)
	case read.err == nil && read.found == nil:
		read.err = deposit.ErrNotFound
	}
	return read.found, read.err
}

func (r *depositReads) run(reads []*depositRead) {
	ctx := reads[0].ctx
	if len(reads) > 1 {
		shared, cancel := context.WithTimeout(context.Background(), readTimeout)
		defer cancel()
		shared, end := pg.StartBatchSpan(shared, "partnerdeposits/postgres", "read deposits", reads,
			func(d *depositRead) context.Context { return d.ctx })
		defer end()
		ctx = shared
	}
	err := r.query(ctx, reads)
	if err == nil {
		return
	}
	for _, read := range reads {
		read.found, read.err = nil, err
		read.alone = len(reads) > 1 && !errors.Is(err, fault.ErrUnavailable)
	}
}

// query reads the deposits of a batch. A returned error concerns all of them.
func (r *depositReads) query(ctx context.Context, reads []*depositRead) error {
	waiting := make(map[id.ID][]*depositRead, len(reads))
	ids := make([]id.ID, 0, len(reads))
	for _, read := range reads {
		if waiting[read.id] == nil {
			ids = append(ids, read.id)
		}
		waiting[read.id] = append(waiting[read.id], read)
	}
	rows, err := r.db.Query(ctx, readDeposits, ids)
	if err != nil {
		return err
	}
	defer rows.Close()
	for rows.Next() {
		var left bool
		d, err := ScanDeposit(rows, r.sealer, &left)
		// After an unreadable row pgx returns no further row, so the remaining deposits are missing.
		if d == nil || pg.IsUnreadableRow(err) {
			return pg.Translate(err)
		}
		d.PartnerLeft = left
		for i, read := range waiting[d.ID] {
			if read.found, read.err = d, err; i > 0 {
				read.found = copyOf(d)
			}
		}
	}
	return rows.Err()
}

// copyOf copies a deposit, since the callers of a batch must not share memory.
func copyOf(d *deposit.Deposit) *deposit.Deposit {
	c := *d
	c.Metadata = maps.Clone(d.Metadata)
	if d.Client != nil {
		client := *d.Client
		c.Client = &client
	}
	return &c
}
