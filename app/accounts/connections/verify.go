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

// ConnectParams holds the parameters of a connect URL; one that was not sent exactly once is "".
type ConnectParams struct {
	connect.URLParams
	ReturnURL string
}

// VerifiedConnectURL is a connect URL whose partner, signature and age were checked.
type VerifiedConnectURL struct {
	Partner       partner.Partner
	ExternalID    string
	Return        *ReturnURL // The return URL; nil when missing or not allowed.
	connectSecret secret.Text
	params        connect.URLParams
}

// The partner's signature does not cover return_url, so the pages redirect only to a Direct URL and ask the
// operator to confirm any other.
type ReturnURL struct {
	URL *url.URL
	// Direct reports whether the redirect to the return URL needs no confirmation by the operator.
	Direct bool
	raw    string
}

// VerifyURL checks the partner, the signature and the age of a connect URL.
//
// Returns connect.ErrPartnerNotFound, ErrMissingConnectSecret, ErrInvalidSignature or ErrURLExpired, in this order.
func (s *Service) VerifyURL(ctx context.Context, r ConnectParams) (VerifiedConnectURL, error) {
	return s.verify(ctx, r, s.deps.Clock.Now())
}

func (s *Service) verify(ctx context.Context, r ConnectParams, now time.Time) (VerifiedConnectURL, error) {
	p, connectSecret, err := s.partnerWithSecret(ctx, r.Partner)
	if err != nil {
		return VerifiedConnectURL{}, err
	}
	if !storable(r.ExternalID) {
		return VerifiedConnectURL{}, connect.ErrInvalidSignature
	}
	if err := r.URLParams.Verify(connectSecret, now); err != nil {
		return VerifiedConnectURL{}, err
	}
	revokedAt, err := s.deps.Links.LastRevokedAt(ctx, p.ID, r.ExternalID)
	if err != nil {
		return VerifiedConnectURL{}, err
	}
	if err := r.CheckRevocation(revokedAt); err != nil {
		return VerifiedConnectURL{}, err
	}
	return VerifiedConnectURL{
		Partner: p, ExternalID: r.ExternalID, Return: s.allowedReturn(r.ReturnURL, p), connectSecret: connectSecret,
		params: r.URLParams,
	}, nil
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
	connectSecret, err := s.deps.Partners.ConnectSecret(ctx, p.ID)
	if err != nil {
		return p, "", err
	}
	if connectSecret.Reveal() == "" {
		return p, "", connect.ErrMissingConnectSecret
	}
	return p, connectSecret, nil
}

func storable(text string) bool {
	return utf8.ValidString(text) && !slices.Contains([]byte(text), 0)
}

// allowedReturn parses a return_url and checks it against the partner's registered origins; nil if it is not
// allowed.
func (s *Service) allowedReturn(raw string, p partner.Partner) *ReturnURL {
	u, err := returnurl.Parse(raw, !s.production())
	if err != nil {
		return nil
	}
	return &ReturnURL{URL: u, raw: raw, Direct: !s.production() || slices.Contains(p.ReturnOrigins, returnurl.Origin(u))}
}

// paramError is the query parameter with the error code of a refused link. A return_url that already has it must
// not pass it on to the partner.
const paramError = "connectError"

// returnURL returns the return_url with the signed result of a connect form; "" without one. When the link was
// refused, accountID is zero, since the partner must not learn of an unlinked account.
func (v VerifiedConnectURL) returnURL(outcome connect.LinkResult, accountID id.ID, code string, now time.Time) string {
	if v.Return == nil {
		return ""
	}
	account := ""
	if !accountID.IsZero() {
		account = id.Account.Of(accountID)
	}
	ts := strconv.FormatInt(now.Unix(), 10)
	params := []returnurl.QueryParam{
		{Key: "connectStatus", Value: string(outcome)},
		{Key: "accountId", Value: account},
		{Key: "externalId", Value: v.ExternalID},
		{Key: "returnTs", Value: ts},
		{Key: "returnSig", Value: connect.SignReturnURL(v.connectSecret, outcome, account, ts, v.ExternalID)},
	}
	if code != "" {
		params = append(params, returnurl.QueryParam{Key: paramError, Value: code})
	}
	return returnurl.AppendParams(v.Return.raw, params, paramError)
}
