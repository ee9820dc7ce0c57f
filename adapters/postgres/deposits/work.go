package deposits

import (
	"bytes"
	"cmp"
	"context"
	"slices"
	"strconv"
	"time"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	depositports "partnerdeposits/ports/deposits"
	ports "partnerdeposits/ports/platform"
)

// SQL of the deposits that wait for their operator. $1 is the account; the week begins at $3 and ends at $2.
const (
	// endingWork selects the open deposits whose cover ends before the week does. It names the status active, as
	// the index of ends does.
	endingWork = `FROM open_deposits WHERE account_id = $1 AND status = 'active' AND ends_at < $2`
	// beginsSoon is the SQL condition that the stay of a row begins in the week; null for rows older than the
	// column starts_at.
	beginsSoon = `(s.status NOT IN ('active', 'captured') AND o.starts_at >= $3 AND o.starts_at < $2)`
)

// maxWork is the most deposits of a status that are read to find those that wait for an operator.
const maxWork = 2000

// workStatuses returns each kind of operator's work, such as a refused card, with each status of its deposits.
func workStatuses(of []depositports.OverviewGroup) (kinds, statuses []string) {
	for _, kind := range of {
		if kind == depositports.OverviewCoverEnding || kind == depositports.OverviewStayBeginning {
			continue
		}
		for _, status := range kind.Statuses() {
			kinds, statuses = append(kinds, string(kind)), append(statuses, string(status))
		}
	}
	return kinds, statuses
}

// countedWork lists the kinds of operator's work, such as a refused payment, that are counted by deposits' status.
var countedWork = []depositports.OverviewGroup{depositports.OverviewAwaitingTenant, depositports.OverviewPaymentRefused,
	depositports.OverviewCollecting,
	depositports.OverviewActive}

// CountByOverviewGroup returns number and sum of an account's deposits by kind of operator's work, from at most
// most+1 rows per status. The ORDER BY keeps the cached plan from reading whole tables.
func (s DashboardQueries) CountByOverviewGroup(ctx context.Context, accountID id.ID, week ports.TimeSpan,
	most int) (map[depositports.OverviewGroup]depositports.DepositGroupCount, error) {
	kinds, statuses := workStatuses(countedWork)
	rows, err := s.DB.Query(ctx, `
		SELECT o.kind, count(*), sum(o.amount_cents)::bigint, count(*) FILTER (WHERE o.soon) FROM (
			SELECT o.amount_cents, `+beginsSoon+` AS soon,
				CASE WHEN s.status = 'captured' AND o.awaits_tenant THEN '`+string(depositports.OverviewCardRefused)+`'
					ELSE s.kind END AS kind
			FROM unnest($5::text[], $6::text[]) AS s(kind, status) CROSS JOIN LATERAL (
				SELECT amount_cents, starts_at, awaits_tenant FROM open_deposits WHERE account_id = $1 AND status = s.status
				ORDER BY created_at LIMIT $4) AS o) AS o
		GROUP BY o.kind
		UNION ALL SELECT '`+string(depositports.OverviewCoverEnding)+`', count(*), coalesce(sum(amount_cents), 0)::bigint, 0 FROM (
			SELECT amount_cents `+endingWork+` LIMIT $4) AS o`, accountID, week.To, week.From, most+1, kinds, statuses)
	if err != nil {
		return nil, err
	}
	counts := map[depositports.OverviewGroup]depositports.DepositGroupCount{}
	captured := 0
	var kind depositports.OverviewGroup
	var n, soon int
	var amount money.Cents
	_, err = pgx.ForEachRow(rows, []any{&kind, &n, &amount, &soon}, func() error {
		counts[kind] = depositports.DepositGroupCount{Count: min(n, most), Amount: amount, More: n > most, Soon: soon}
		if slices.Contains(kind.Statuses(), deposit.Captured) {
			captured += n
		}
		return nil
	})
	if captured > most { // Not all captured deposits were read, so both counts are marked as incomplete.
		for _, kind := range []depositports.OverviewGroup{depositports.OverviewCardRefused, depositports.OverviewCollecting} {
			part := counts[kind]
			part.More = true
			counts[kind] = part
		}
	}
	return counts, pg.Translate(err)
}

// DepositsByOverviewGroup returns the first deposits of an account for each kind of work that waits for its
// operator.
func (s DashboardQueries) DepositsByOverviewGroup(ctx context.Context, accountID id.ID, of []depositports.OverviewGroup,
	week ports.TimeSpan,
	limit int) (map[depositports.OverviewGroup][]*deposit.Deposit, error) {
	endingLimit := 0
	if slices.Contains(of, depositports.OverviewCoverEnding) {
		endingLimit = limit
	}
	soon := []string{}
	if slices.Contains(of, depositports.OverviewStayBeginning) {
		soon = statusTexts(depositports.OverviewStayBeginning.Statuses())
	}
	kinds, statuses := workStatuses(of)
	source := `(SELECT d.*, o.kind FROM (
		SELECT s.kind, s.status, o.deposit_id FROM unnest($6::text[], $7::text[]) AS s(kind, status) CROSS JOIN LATERAL (
			SELECT o.deposit_id FROM (
				SELECT starts_at, created_at, awaits_tenant, deposit_id FROM open_deposits
				WHERE account_id = $1 AND status = s.status
				ORDER BY created_at DESC, deposit_id DESC LIMIT ` + strconv.Itoa(maxWork) + `) AS o
			WHERE CASE s.status WHEN 'captured' THEN o.awaits_tenant = (s.kind = '` +
		string(depositports.OverviewCardRefused) + `') ELSE ` + beginsSoon + ` IS NOT TRUE END
			ORDER BY o.created_at DESC, o.deposit_id DESC LIMIT $4) AS o
		UNION ALL SELECT '` + string(depositports.OverviewStayBeginning) + `', s.status, o.deposit_id FROM unnest($8::text[]) AS s(status)
		CROSS JOIN LATERAL (
			SELECT o.deposit_id FROM (
				SELECT starts_at, deposit_id FROM open_deposits WHERE account_id = $1 AND status = s.status
				ORDER BY created_at LIMIT ` + strconv.Itoa(maxWork) + `) AS o
			WHERE ` + beginsSoon + ` ORDER BY o.starts_at, o.deposit_id LIMIT $4) AS o
		UNION ALL (SELECT '` + string(depositports.OverviewCoverEnding) + `', status, deposit_id ` + endingWork + `
			ORDER BY ends_at, deposit_id LIMIT $5)) AS o
		JOIN deposits d ON d.id = o.deposit_id AND d.status = o.status)`
	rows, err := s.DB.Query(ctx, SelectDepositsSQL(source, "d.kind"), accountID, week.To, week.From, limit, endingLimit,
		kinds, statuses, soon)
	if err != nil {
		return nil, err
	}
	found := map[depositports.OverviewGroup][]*deposit.Deposit{}
	for rows.Next() {
		var kind depositports.OverviewGroup
		d, err := ScanDeposit(rows, s.Sealer, &kind)
		if err != nil {
			rows.Close()
			return nil, pg.Translate(err)
		}
		found[kind] = append(found[kind], d)
	}
	for kind, all := range found {
		slices.SortFunc(all, func(a, b *deposit.Deposit) int { return compareWork(kind, a, b) })
		found[kind] = all[:min(len(all), limit)]
	}
	return found, pg.Translate(rows.Err())
}

// compareWork compares two deposits by the order of those with the same kind of open work.
func compareWork(kind depositports.OverviewGroup, a, b *deposit.Deposit) int {
	switch kind {
	case depositports.OverviewStayBeginning:
		return cmp.Or(a.ContractStartAt.Compare(b.ContractStartAt), bytes.Compare(a.ID[:], b.ID[:]))
	case depositports.OverviewCoverEnding:
		return cmp.Or(a.ExpiresAt.Compare(b.ExpiresAt), bytes.Compare(a.ID[:], b.ID[:]))
	}
	return cmp.Or(b.CreatedAt.Compare(a.CreatedAt), bytes.Compare(b.ID[:], a.ID[:]))
}

func (s DashboardQueries) RefusedDepositIDs(ctx context.Context, accountID id.ID, limit int) ([]id.ID, error) {
	rows, err := s.DB.Query(ctx, `
		SELECT deposit_id FROM ((SELECT deposit_id FROM open_deposits WHERE account_id = $1 AND status = 'payment_issue'
			ORDER BY created_at DESC, deposit_id DESC LIMIT $2)
		UNION ALL (SELECT deposit_id FROM open_deposits WHERE account_id = $1 AND awaits_tenant
			ORDER BY created_at DESC, deposit_id DESC LIMIT $2)) AS o
		LIMIT $2`, accountID, limit)
	if err != nil {
		return nil, err
	}
	ids, err := pgx.CollectRows(rows, pgx.RowTo[id.ID])
	return ids, pg.Translate(err)
}

// CountCreatedDeposits returns how many deposits an account made in each span of time.
func (s DashboardQueries) CountCreatedDeposits(ctx context.Context, accountID id.ID, spans []ports.TimeSpan) ([]int,
	error) {
	from, to := pg.ConvertEach(spans, func(s ports.TimeSpan) time.Time { return s.From }),
		pg.ConvertEach(spans, func(s ports.TimeSpan) time.Time { return s.To })
	rows, err := s.DB.Query(ctx,
		`SELECT (SELECT count(*) FROM deposits d WHERE d.account_id = $1 AND d.created_at >= s.starts
			AND d.created_at < s.ends)
		FROM unnest($2::timestamptz[], $3::timestamptz[]) WITH ORDINALITY AS s(starts, ends, n) ORDER BY s.n`, accountID,
		from, to)
	if err != nil {
		return nil, err
	}
	counts, err := pgx.CollectRows(rows, pgx.RowTo[int])
	return counts, pg.Translate(err)
}
