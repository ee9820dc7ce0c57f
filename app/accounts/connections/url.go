package connections

import (
	"context"
	"net/url"
	"strconv"
	"strings"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/mailaddr"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/returnurl"
	"partnerdeposits/core/site"
)

type ConnectURLRequest struct {
	PartnerSlug string
	ExternalID  string
	Email       string
	Name        string
	ReturnURL   string
}

// BuildConnectURL builds and signs a connect URL to /register, as the partner's server would.
//
// Returns connect.ErrPartnerNotFound, ErrMissingConnectSecret, or invalid_field for a value that the pages refuse
// or ignore.
func (s *Service) BuildConnectURL(ctx context.Context, r ConnectURLRequest) (string, error) {
	if err := s.checkURLRequest(r); err != nil {
		return "", err
	}
	_, connectSecret, err := s.partnerWithSecret(ctx, r.PartnerSlug)
	if err != nil {
		return "", err
	}
	ts := strconv.FormatInt(s.deps.Clock.Now().Unix(), 10)
	params := []returnurl.QueryParam{
		{Key: "partner", Value: r.PartnerSlug},
		{Key: "external_id", Value: r.ExternalID},
		{Key: "ts", Value: ts},
		{Key: "sig", Value: connect.SignURL(connectSecret, r.PartnerSlug, r.ExternalID, ts)},
	}
	for _, p := range []returnurl.QueryParam{{Key: "email", Value: r.Email}, {Key: "name", Value: r.Name},
		{Key: "return_url", Value: r.ReturnURL}} {
		if p.Value != "" {
			params = append(params, p)
		}
	}
	return returnurl.AppendParams(site.PageURL(s.deps.DashboardURL, site.RegisterPath), params), nil
}

func (s *Service) checkURLRequest(r ConnectURLRequest) error {
	switch {
	case !partner.ValidSlug(r.PartnerSlug):
		return connect.ErrPartnerNotFound
	case r.ExternalID == "" || len(r.ExternalID) > connect.MaxExternalIDLength || !storable(r.ExternalID):
		return fault.ErrInvalidField.WithField("externalId", "must be 1 to %d bytes of UTF-8", connect.MaxExternalIDLength)
	case r.Email != "" && !mailaddr.Valid(r.Email):
		return fault.ErrInvalidField.WithField("email", "is not an e-mail address")
	case r.Name != "" && !connect.ValidCompany(r.Name):
		return fault.ErrInvalidField.WithField("name", "must be one line of 1 to 120 characters")
	case r.ReturnURL == "":
		return nil
	}
	if _, err := returnurl.Parse(r.ReturnURL, !s.production()); err != nil {
		return fault.ErrInvalidField.WithField("returnUrl", "%s", err)
	}
	return nil
}

// ParseConnectQuery reads the parameters of a connect URL; one that is not sent exactly once, or cannot be decoded,
// becomes "". connected reports whether the query has any parameter of the URL but email and name.
func ParseConnectQuery(raw string) (r ConnectParams, prefill SignUpPrefill, connected bool) {
	values := decoded(raw)
	single := func(key string) string {
		if v := values[key]; len(v) == 1 {
			return v[0]
		}
		return ""
	}
	for _, key := range []string{"partner", "external_id", "ts", "sig", "return_url"} {
		connected = connected || len(values[key]) > 0
	}
	r = ConnectParams{
		URLParams: connect.URLParams{Partner: single("partner"), ExternalID: single("external_id"), TS: single("ts"),
			Sig: single("sig")},
		ReturnURL: single("return_url"),
	}
	return r, SignUpPrefill{Email: single("email"), Name: single("name")}, connected
}

// decoded returns the values of a query by name; a value that cannot be decoded or stored becomes "".
func decoded(raw string) map[string][]string {
	values := map[string][]string{}
	for part := range strings.SplitSeq(raw, "&") {
		rawKey, rawValue, _ := strings.Cut(part, "=")
		key, err := url.QueryUnescape(rawKey)
		if err != nil {
			continue
		}
		value, err := url.QueryUnescape(rawValue)
		if err != nil || !storable(value) {
			value = ""
		}
		values[key] = append(values[key], value)
	}
	return values
}

type SignUpPrefill struct{ Email, Name string }
