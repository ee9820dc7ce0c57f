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

// ConnectURLRequest holds the parts from which a connect URL is built. Email, Name and ReturnURL may be "".
type ConnectURLRequest struct {
	PartnerSlug string
	ExternalID  string
	Email       string
	Name        string
	ReturnURL   string
}

// BuildConnectURL builds and signs a connect URL that is valid from now on, as the partner's server would. The URL
// leads to /register; the same query is valid on /login.
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

// ParseConnectQuery reads the parameters of a connect URL from a raw query. A parameter that was not sent exactly once,
// or cannot be decoded, becomes "". connected is true when the query has at least one parameter of the
// partner's connect URL, and false when it has none: email and name alone only fill in the form.
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

// decoded returns the values of a raw query by parameter name. A value that cannot be decoded or stored
// becomes "".
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

// SignUpPrefill holds the e-mail address and the name that the sign-up form shows at first.
type SignUpPrefill struct{ Email, Name string }
