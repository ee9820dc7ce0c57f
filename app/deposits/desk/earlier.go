package desk

import (
	"bytes"
	"context"
	"time"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	depositports "partnerdeposits/ports/deposits"
	ports "partnerdeposits/ports/platform"
)

const (
	// earlierShownFor is the time after the reset that first proved an address for which older records are shown.
	earlierShownFor = 7 * 24 * time.Hour
	// auditLooked limits the audit entries that are searched for the password reset that proved an address.
	auditLooked = 200
)

// RecordsBeforeEmailProof holds the deposits and link that a stranger may have made before a password reset first
// proved the operator's address.
type RecordsBeforeEmailProof struct {
	Until    time.Time
	Count    int
	Deposits []DepositRow  // The newest deposits made before the address was proved.
	Link     *connect.Link // The active link, if made before the address was proved; nil for none.
}

// RecordsBeforeEmailProof returns what a stranger may have made before a password reset first proved the address
// (pages.md, "Accounts"); nil for nothing, or no such reset within seven days.
func (s *Service) RecordsBeforeEmailProof(ctx context.Context, o connect.Operator, a connect.Account,
	link *connect.Link) (*RecordsBeforeEmailProof, error) {
	if !o.EmailVerified() || s.deps.Clock.Now().Sub(o.VerifiedAt) > earlierShownFor {
		return nil, nil //nolint:nilnil // nothing to show
	}
	entries, err := s.deps.Audit.AuditEntries(ctx, ports.AuditFilter{Subject: id.Operator.Of(o.ID)}, auditLooked)
	if err != nil || !provedByReset(entries, o) {
		return nil, err
	}
	counts, err := s.deps.Desk.CountCreatedDeposits(ctx, a.ID, []ports.TimeSpan{{From: a.CreatedAt, To: o.VerifiedAt}})
	if err != nil {
		return nil, err
	}
	e := &RecordsBeforeEmailProof{Until: o.VerifiedAt.In(a.Zone()), Count: counts[0]}
	if link != nil && link.LinkedAt.Before(e.Until) {
		e.Link = link
	}
	if e.Count == 0 && e.Link == nil {
		return nil, nil //nolint:nilnil // nothing to show
	}
	newest := ports.Page{Limit: firstOf,
		Cursor: ports.Cursor{At: e.Until, ID: id.ID(bytes.Repeat([]byte{0xff}, len(id.ID{})))}}
	list, err := s.ListDeposits(ctx, a, depositports.DashboardFilter{}, newest)
	e.Deposits = list.Items
	return e, err
}

// provedByReset reports whether the audit entries contain the reset that verified the operator's address.
func provedByReset(entries []ports.AuditEntry, o connect.Operator) bool {
	for _, e := range entries {
		if audit.Action(e.Action) == audit.OperatorProveEmailByReset && e.At.Equal(o.VerifiedAt) {
			return true
		}
	}
	return false
}
