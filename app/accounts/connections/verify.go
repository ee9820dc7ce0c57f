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

// ConnectParams holds the parameters of a connect URL as they were sent. A parameter that was not sent exactly once
// is "".
type ConnectParams struct {
	connect.URLParams
	ReturnURL string
}

// VerifiedConnectURL is a connect URL whose partner, signature and age were checked.
type VerifiedConnectURL struct {
	Partner       partner.Partner
	ExternalID    string
	Return        *ReturnURL // The return URL; nil when return_url is missing or not allowed.
	connectSecret secret.Text
	params        connect.URLParams
}

// ReturnURL is the URL to which the operator is sent after a connect form. The partner's signature does not
// cover return_url, so the pages redirect only to a Direct URL and ask the operator to confirm any other.
type ReturnURL struct {
	URL *url.URL
	// true: the partner registered the URL's origin, or the service is not in production; false: the operator
	// confirms the redirect.
	Direct bool
	raw    string
}

// VerifyURL checks the partner, the signature and the age of a connect URL. The pages call VerifyURL when they
// show a form and again when the form is sent.
//
// Returns connect.ErrPartnerNotFound, ErrMissingConnectSecret, ErrInvalidSignature or ErrURLExpired, in this
// order.
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

// storable reports whether Postgres can store a text unchanged: true for valid UTF-8 without a zero byte,
// else false.
func storable(text string) bool {
	return utf8.ValidString(text) && !slices.Contains([]byte(text), 0)
}

// allowedReturn parses a return_url and checks it against the partner's registered origins. nil: the URL is
// not allowed, and the operator ends on the dashboard.
func (s *Service) allowedReturn(raw string, p partner.Partner) *ReturnURL {
	u, err := returnurl.Parse(raw, !s.production())
	if err != nil {
		return nil
	}
	return &ReturnURL{URL: u, raw: raw, Direct: !s.production() || slices.Contains(p.ReturnOrigins, returnurl.Origin(u))}
}

// paramError is the query parameter with the error code of a refused link. A return_url that already has this
// parameter must not pass it on to the partner as if the service had set it.
const paramError = "connectError"

// returnURL returns the partner's return_url with the signed result of a connect form appended to it; "" if the
// connect URL had no return_url. When the link was refused, accountID is zero and code is set: the partner must
// not learn of an account that is not linked to it.
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
