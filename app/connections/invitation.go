package connections

import (
	"context"
	"errors"
	"net/url"
	"slices"
	"strconv"
	"time"
	"unicode/utf8"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/returnurl"
	"partnerdeposits/core/secret"
)

// Request is a connect URL as it came; a parameter that was not sent exactly once is "".
type Request struct {
	connect.Params
	ReturnURL string
}

// Invitation is a connect URL that was checked.
type Invitation struct {
	Partner    partner.Partner
	ExternalID string
	Return     *Return // nil: none was asked for, or one that we do not follow
	key        secret.Text
}

// Return is where the operator goes in the end. It is not part of what the partner signed, so only Direct ones are
// followed without asking.
type Return struct {
	URL    *url.URL
	Direct bool // its origin is registered for the partner, or this is not production
	raw    string
}

// Open checks a connect URL. It is called when a page is shown and again when its form is sent.
//
// Returns connect.ErrPartnerNotFound, ErrMissingConnectSecret, ErrInvalidSignature or ErrExpired, in this order.
func (s *Service) Open(ctx context.Context, r Request) (Invitation, error) {
	return s.open(ctx, r, s.deps.Clock.Now())
}

func (s *Service) open(ctx context.Context, r Request, now time.Time) (Invitation, error) {
	p, key, err := s.partnerWithSecret(ctx, r.Partner)
	if err != nil {
		return Invitation{}, err
	}
	if !storable(r.ExternalID) {
		return Invitation{}, connect.ErrInvalidSignature
	}
	if err := r.Verify(key, now); err != nil {
		return Invitation{}, err
	}
	return Invitation{Partner: p, ExternalID: r.ExternalID, Return: s.returnTo(r.ReturnURL, p), key: key}, nil
}

func (s *Service) partnerWithSecret(ctx context.Context, slug string) (partner.Partner, secret.Text, error) {
	if !partner.ValidSlug(slug) {
		return partner.Partner{}, "", connect.ErrPartnerNotFound
	}
	p, err := s.deps.Partners.PartnerBySlug(ctx, slug)
	if errors.Is(err, partner.ErrNotFound) {
		return p, "", connect.ErrPartnerNotFound
	}
	if err != nil {
		return p, "", err
	}
	key, err := s.deps.Partners.ConnectSecret(ctx, p.ID)
	if err != nil {
		return p, "", err
	}
	if key.Reveal() == "" {
		return p, "", connect.ErrMissingConnectSecret
	}
	return p, key, nil
}

// storable reports whether the database takes the text as it is.
func storable(text string) bool {
	return utf8.ValidString(text) && !slices.Contains([]byte(text), 0)
}

// returnTo ignores a URL that we do not follow: the operator then ends on the dashboard.
func (s *Service) returnTo(raw string, p partner.Partner) *Return {
	u, err := returnurl.Parse(raw, !s.production())
	if err != nil {
		return nil
	}
	return &Return{URL: u, raw: raw, Direct: !s.production() || slices.Contains(p.ReturnOrigins, returnurl.Origin(u))}
}

// Result is what is appended to return_url, signed so that the partner can believe it. accountID is zero on an error: an
// account that is not linked to the partner is none of its business.
func (inv Invitation) Result(outcome connect.Outcome, accountID id.ID, refusal string, now time.Time) string {
	if inv.Return == nil {
		return ""
	}
	account := ""
	if !accountID.IsZero() {
		account = id.Account.Of(accountID)
	}
	ts := strconv.FormatInt(now.Unix(), 10)
	params := []returnurl.Param{
		{Key: "connectStatus", Value: string(outcome)},
		{Key: "accountId", Value: account},
		{Key: "externalId", Value: inv.ExternalID},
		{Key: "returnTs", Value: ts},
		{Key: "returnSig", Value: connect.ReturnSignature(inv.key, outcome, account, ts, inv.ExternalID)},
	}
	if refusal != "" {
		params = append(params, returnurl.Param{Key: "connectError", Value: refusal})
	}
	return returnurl.Append(inv.Return.raw, params...)
}
