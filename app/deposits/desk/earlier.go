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
	// earlierShownFor is the time, from the reset that first proved an address, for which the page shows what
	// was made before.
	earlierShownFor = 7 * 24 * time.Hour
	// auditLooked is the number of an operator's newest audit entries that are searched for the password reset
	// that proved the address.
	auditLooked = 200
)

// RecordsBeforeEmailProof holds the deposits and the link that were made for an account before a password reset first
// proved the operator's address. A stranger may have made them.
type RecordsBeforeEmailProof struct {
	Until    time.Time
	Count    int           // The number of deposits that were made before the operator's address was proved.
	Deposits []DepositRow  // The newest deposits that were made before the operator's address was proved.
	Link     *connect.Link // The account's active link, if it was made before the proof; nil for none.
}

// RecordsBeforeEmailProof returns what the owner of an address finds in an account to which a password reset first gave
// access (pages.md, "Accounts"). link is the account's active link. The result is nil where no reset proved
// the address within seven days, and where nothing was made before.
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

// provedByReset reports whether the audit entries contain the password reset that verified the operator's
// present address.
func provedByReset(entries []ports.AuditEntry, o connect.Operator) bool {
	for _, e := range entries {
		if audit.Action(e.Action) == audit.OperatorProveEmailByReset && e.At.Equal(o.VerifiedAt) {
			return true
		}
	}
	return false
}
