// Package partners authenticates partners, lists their linked accounts, and manages API keys, connect secrets and
// rate limits.
package partners

import (
	"context"
	"strconv"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	accountports "partnerdeposits/ports/accounts"
	partnerports "partnerdeposits/ports/partners"
	ports "partnerdeposits/ports/platform"
)

type Deps struct {
	UnitOfWork  ports.UnitOfWork
	Partners    partnerports.PartnerStore
	Keys        partnerports.APIKeyStore
	Mails       ports.MailQueue
	Audit       ports.AuditLog
	Links       accountports.PartnerLinkStore
	Clock       ports.Clock
	Entropy     ports.Entropy
	Environment partner.Environment
	Limiter     ports.Limiter
	Limits      RateLimits // The rate limits of partners without rate limits of their own.
}

type Service struct{ deps Deps }

func New(deps Deps) *Service { return &Service{deps: deps} }

func (s *Service) audit(
	ctx context.Context, verb audit.Action, subject string, detail map[string]string,
) error {
	return s.auditBy(ctx, actor.Staff, verb, subject, detail)
}

func (s *Service) auditBy(
	ctx context.Context, by actor.Actor, verb audit.Action, subject string,
	detail map[string]string,
) error {
	return s.deps.Audit.Append(ctx, audit.NewEntry(s.deps.Entropy, s.deps.Clock.Now(), by, verb, subject, detail))
}

// change runs do on a partner and writes the audit log, in a single transaction.
func (s *Service) change(
	ctx context.Context, slug string, verb audit.Action, detail map[string]string,
	do func(context.Context, partner.Partner) error,
) error {
	p, err := s.deps.Partners.PartnerBySlug(ctx, slug)
	if err != nil {
		return err
	}
	return s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		if err := do(ctx, p); err != nil {
			return err
		}
		return s.audit(ctx, verb, id.Partner.Of(p.ID), detail)
	})
}

func number(n int) string { return strconv.Itoa(n) }

type RateLimits struct {
	PerMinute       int
	WritesPerMinute int // Requests in a minute that may change data; they count against PerMinute too.
}
