package connections

import (
	"context"
	"time"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/app/platform/mails"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	ports "partnerdeposits/ports/platform"
)

// UnlinkByOperator ends the link that the operator saw; a link made since then stays.
func (s *Service) UnlinkByOperator(ctx context.Context, o connect.Operator, a connect.Account,
	linkID id.ID) (changed bool, err error) {
	current, err := s.deps.Links.ActiveLink(ctx, a.ID)
	if err != nil || current == nil {
		return false, err
	}
	p, err := s.deps.Partners.PartnerByID(ctx, current.PartnerID)
	if err != nil {
		return false, err
	}
	return s.revoke(ctx, revocation{
		partner: p, account: a, operator: o, by: connect.RevokedByOperator, actor: o.Actor(), only: linkID,
	})
}

// EndLinkByPartner ends the partner's link to an account. changed is false when it had been revoked before.
//
// Returns connect.ErrAccountNotFound for an account that was never linked to the partner.
func (s *Service) EndLinkByPartner(ctx context.Context, by partner.Caller, accountID id.ID) (changed bool, err error) {
	if _, err := s.deps.Links.LinkedAccount(ctx, by.Partner.ID, accountID); err != nil {
		return false, err
	}
	a, o, err := s.deps.Operators.AccountByID(ctx, accountID)
	if err != nil {
		return false, err
	}
	return s.revoke(ctx, revocation{
		partner: by.Partner, account: a, operator: o, by: connect.RevokedByPartner,
		actor: by.Actor(),
	})
}

// RevokeByAdmin ends a partner's link to an account. changed is false when it had been revoked before.
//
// Returns partner.ErrNotFound or connect.ErrAccountNotFound.
func (s *Service) RevokeByAdmin(ctx context.Context, slug string, accountID id.ID) (changed bool, err error) {
	if !partner.ValidSlug(slug) {
		return false, partner.ErrNotFound
	}
	p, err := s.deps.Partners.PartnerBySlug(ctx, slug)
	if err != nil {
		return false, err
	}
	if _, err := s.deps.Links.LinkedAccount(ctx, p.ID, accountID); err != nil {
		return false, err
	}
	a, o, err := s.deps.Operators.AccountByID(ctx, accountID)
	if err != nil {
		return false, err
	}
	return s.revoke(ctx, revocation{
		partner: p, account: a, operator: o, by: connect.RevokedByAdmin, actor: actor.Staff,
	})
}

func (s *Service) linkEnded(r revocation, now time.Time) ports.Mail {
	return mails.PartnerUnlinked{
		Operator: r.operator, PartnerName: r.partner.Name, By: r.by, DashboardURL: s.deps.DashboardURL,
	}.Mail(s.deps.Entropy.NewID(), now)
}

type revocation struct {
	partner  partner.Partner
	account  connect.Account
	operator connect.Operator
	by       connect.RevokedBy
	actor    actor.Actor
	// The id of the one link to end; zero ends whichever link is active.
	only id.ID
}

// ends reports whether the account's active link is the link that the operator saw.
func (r revocation) ends(current *connect.Link) bool { return current != nil && current.ID == r.only }

// detail returns the details of the audit entry of a revoked link.
func (r revocation) detail() map[string]string {
	return map[string]string{"partnerId": id.Partner.Of(r.partner.ID), "by": string(r.by)}
}

// revoke ends the link of an account and a partner, mails the operator and writes the audit log.
func (s *Service) revoke(ctx context.Context, r revocation) (changed bool, err error) {
	now := s.deps.Clock.Now()
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) (err error) {
		changed, err = s.revokeWithin(ctx, r, now)
		return err
	})
	return changed && err == nil, err
}

func (s *Service) revokeWithin(ctx context.Context, r revocation, now time.Time) (changed bool, err error) {
	if !r.only.IsZero() {
		current, err := s.deps.Links.LockActiveLink(ctx, r.account.ID)
		if err != nil || !r.ends(current) {
			return false, err
		}
		if r.partner.ContactEmail != "" {
			told := mails.AccountUnlinked{Contact: r.partner.ContactEmail, Account: r.account,
				ExternalID: current.ExternalID}
			if err := s.deps.Mails.Enqueue(ctx, told.Mail(s.deps.Entropy.NewID(), now)); err != nil {
				return false, err
			}
		}
	}
	changed, err = s.deps.Links.Revoke(ctx, r.partner.ID, r.account.ID, r.by, now)
	if err != nil || !changed {
		return false, err
	}
	if err := s.deps.Mails.Enqueue(ctx, s.linkEnded(r, now)); err != nil {
		return false, err
	}
	subject := id.Account.Of(r.account.ID)
	entry := audit.NewEntry(s.deps.Entropy, now, r.actor, audit.LinkRevoke, subject, r.detail())
	return true, s.deps.Audit.Append(ctx, entry)
}
