package partners

import (
	"context"
	"slices"
	"strings"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
)

// PartnerUpdate holds new values of a partner; a nil field stays as it is.
type PartnerUpdate struct {
	Name          *string
	ContactEmail  *string   // The new e-mail address of the partner's contact; "" removes it.
	ReturnOrigins *[]string // The URLs whose origins replace all return origins of the partner.
}

// Update changes a partner, and writes an audit entry if a value differs.
//
// Returns invalid_field or partner_not_found.
func (s *Service) Update(ctx context.Context, slug string,
	in PartnerUpdate) (p partner.Partner, changed bool, err error) {
	fresh, err := in.validate(s.deps.Environment)
	if err != nil {
		return partner.Partner{}, false, err
	}
	err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) (err error) {
		if p, err = s.deps.Partners.LockRow(ctx, slug); err != nil {
			return err
		}
		detail := fresh.apply(&p)
		changed = len(detail) > 0
		if !changed {
			return nil
		}
		if err := s.deps.Partners.Update(ctx, p); err != nil {
			return err
		}
		return s.audit(ctx, audit.PartnerUpdate, id.Partner.Of(p.ID), detail)
	})
	return p, changed, err
}

// validate checks an update like a new partner, and returns it with origins instead of URLs.
func (in PartnerUpdate) validate(env partner.Environment) (PartnerUpdate, error) {
	if in.Name != nil {
		if err := validName(*in.Name); err != nil {
			return in, err
		}
	}
	if in.ContactEmail != nil {
		if err := validContact(*in.ContactEmail); err != nil {
			return in, err
		}
	}
	if in.ReturnOrigins != nil {
		origins, err := validOrigins(*in.ReturnOrigins, env)
		if err != nil {
			return in, err
		}
		in.ReturnOrigins = &origins
	}
	return in, nil
}

// apply changes the partner, and returns the changed fields with their values before and now.
func (in PartnerUpdate) apply(p *partner.Partner) map[string]string {
	detail := map[string]string{}
	note := func(field, before, now string) { detail[field], detail[field+"Before"] = now, before }
	if in.Name != nil && *in.Name != p.Name {
		note("name", p.Name, *in.Name)
		p.Name = *in.Name
	}
	if in.ContactEmail != nil && *in.ContactEmail != p.ContactEmail {
		note("contactEmail", p.ContactEmail, *in.ContactEmail)
		p.ContactEmail = *in.ContactEmail
	}
	if in.ReturnOrigins != nil && !slices.Equal(*in.ReturnOrigins, p.ReturnOrigins) {
		note("returnOrigins", strings.Join(p.ReturnOrigins, " "), strings.Join(*in.ReturnOrigins, " "))
		p.ReturnOrigins = *in.ReturnOrigins
	}
	return detail
}
