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
)

// URLRequest asks for a connect URL. Email, Name and ReturnURL may be "".
type URLRequest struct {
	PartnerSlug string
	ExternalID  string
	Email       string
	Name        string
	ReturnURL   string
}

// ConnectURL signs a connect URL as the partner's own server would, with the time of now. It leads to signup; the same
// query is good on /login.
//
// Returns connect.ErrPartnerNotFound, ErrMissingConnectSecret, or invalid_field for what the pages would refuse or ignore.
func (s *Service) ConnectURL(ctx context.Context, r URLRequest) (string, error) {
	if err := s.checkURLRequest(r); err != nil {
		return "", err
	}
	_, key, err := s.partnerWithSecret(ctx, r.PartnerSlug)
	if err != nil {
		return "", err
	}
	ts := strconv.FormatInt(s.deps.Clock.Now().Unix(), 10)
	params := []returnurl.Param{
		{Key: "partner", Value: r.PartnerSlug},
		{Key: "external_id", Value: r.ExternalID},
		{Key: "ts", Value: ts},
		{Key: "sig", Value: connect.Sign(key, r.PartnerSlug, r.ExternalID, ts)},
	}
	for _, p := range []returnurl.Param{{Key: "email", Value: r.Email}, {Key: "name", Value: r.Name}, {Key: "return_url", Value: r.ReturnURL}} {
		if p.Value != "" {
			params = append(params, p)
		}
	}
	return returnurl.Append(strings.TrimSuffix(s.deps.DashboardURL, "/")+"/register", params...), nil
}

func (s *Service) checkURLRequest(r URLRequest) error {
	switch {
	case !partner.ValidSlug(r.PartnerSlug):
		return connect.ErrPartnerNotFound
	case r.ExternalID == "" || len(r.ExternalID) > connect.MaxExternalID || !storable(r.ExternalID):
		return fault.ErrInvalidField.WithField("externalId", "must be 1 to %d bytes of UTF-8", connect.MaxExternalID)
	case r.Email != "" && !mailaddr.Valid(r.Email):
		return fault.ErrInvalidField.WithField("email", "is not an e-mail address")
	case r.ReturnURL == "":
		return nil
	}
	if _, err := returnurl.Parse(r.ReturnURL, !s.production()); err != nil {
		return fault.ErrInvalidField.WithField("returnUrl", "%s", err)
	}
	return nil
}

// Query reads the parameters of a connect URL out of a raw query. What was not sent exactly once, or cannot be decoded,
// comes out as "". connected is false where no parameter of partner connect is there at all: e-mail and name alone only
// fill in a form.
func Query(raw string) (r Request, prefill Prefill, connected bool) {
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
	one := func(key string) string {
		if v := values[key]; len(v) == 1 {
			return v[0]
		}
		return ""
	}
	for _, key := range []string{"partner", "external_id", "ts", "sig", "return_url"} {
		connected = connected || len(values[key]) > 0
	}
	r = Request{
		Params:    connect.Params{Partner: one("partner"), ExternalID: one("external_id"), TS: one("ts"), Sig: one("sig")},
		ReturnURL: one("return_url"),
	}
	return r, Prefill{Email: one("email"), Name: one("name")}, connected
}

// Prefill fills in the signup form.
type Prefill struct{ Email, Name string }
