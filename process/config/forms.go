package config

import (
	"errors"
	"fmt"
	"net"
	netmail "net/mail"
	"net/netip"
	"net/url"
	"slices"
	"strconv"
	"strings"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/mail"
	"partnerdeposits/adapters/redis"
	"partnerdeposits/adapters/secrets"
	"partnerdeposits/core/oneline"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/returnurl"
)

// forms holds the checks that the tag `form` of a Config field names. Their errors never contain a value that may
// be secret.
var forms = map[string]func(text string, s setting, c Config) error{
	"environment":  isEnvironment,
	"postgres":     isPostgresURL,
	"redis":        isRedisURL,
	"origin":       isOrigin,
	"keyset":       isKeyset,
	"listen":       isListenAddress,
	"proxy":        isProxy,
	"share":        isShare,
	"proxy header": isProxyHeader,
	"log format":   isLogFormat,
	"smtp":         isSMTPURL,
	"mail address": isMailAddress,
	"http":         isHTTPURL,

	"egress address": isEgressAddress,
	"traces sampler": isTracesSampler,

	"https":         isPublicURL,
	"plain address": isPlainAddress,

	"payments provider":     isPaymentsProvider,
	"stripe key":            isStripeKey,
	"stripe webhook secret": isStripeWebhookSecret,
	"stripe base":           isStripeBase,
}

func isEnvironment(text string, _ setting, _ Config) error {
	if !slices.Contains([]partner.Environment{partner.EnvironmentDevelopment, partner.EnvironmentStaging,
		partner.EnvironmentProduction},
		partner.Environment(text)) {
		return fmt.Errorf("%q is not development, staging or production", text)
	}
	return nil
}

func isPostgresURL(text string, _ setting, _ Config) error {
	if _, err := pgx.ParseConfig(text); err != nil {
		return errors.New("is not a Postgres URL such as postgres://user:password@host:5432/database")
	}
	return nil
}

func isRedisURL(text string, _ setting, _ Config) error {
	client, err := redis.NewClient(text)
	if err != nil {
		return errors.New(
			"must be redis://host:port/db, rediss://…, redis://host1,host2,… for a cluster, or redis-sentinel://host1,host2,…?master=name (rediss-sentinel:// with TLS)")
	}
	_ = client.Close()
	return nil
}

func isOrigin(text string, _ setting, c Config) error {
	u, err := url.Parse(text)
	if err != nil || !isHTTP(text) || (u.Path != "" && u.Path != "/") || u.User != nil || strings.ContainsAny(text, "?#") {
		return errors.New("is not an origin such as https://api.example.com")
	}
	if u.Scheme != "https" && c.Environment == partner.EnvironmentProduction && !returnurl.IsLocalhost(u.Hostname()) {
		return errors.New("must be https in production")
	}
	return nil
}

func isKeyset(text string, _ setting, _ Config) error {
	if _, err := secrets.OpenKeyset(text); err != nil {
		return errors.New("is not a keyset" + newKeyset)
	}
	return nil
}

func isListenAddress(text string, s setting, _ Config) error {
	host, port, err := net.SplitHostPort(text)
	if err == nil && !strings.ContainsAny(host, " /") {
		_, err = strconv.ParseUint(port, 10, 16)
	} else {
		err = net.InvalidAddrError(text)
	}
	if err != nil {
		usual := s.tag("envDefault")
		return fmt.Errorf("%q is not an address to listen on, such as %s or 127.0.0.1%s", text, usual, usual)
	}
	return nil
}

func isProxy(text string, _ setting, _ Config) error {
	_, errAddr := netip.ParseAddr(text)
	_, errRange := netip.ParsePrefix(text)
	if errAddr != nil && errRange != nil {
		return fmt.Errorf("%q is neither an IP address nor a range such as 10.0.0.0/8", text)
	}
	return nil
}

func isEgressAddress(text string, _ setting, _ Config) error {
	_, err := addressRange(text)
	return err
}

// addressRange parses an address range, or an address as a range.
func addressRange(text string) (netip.Prefix, error) {
	if addr, err := netip.ParseAddr(text); err == nil && addr.Zone() == "" && !addr.Is4In6() {
		return netip.PrefixFrom(addr, addr.BitLen()), nil
	}
	r, err := netip.ParsePrefix(text)
	switch {
	case err != nil || r.Addr().Is4In6():
		return r, fmt.Errorf("%q is neither an IP address nor a range such as 203.0.113.0/24", text)
	case r.Bits() == 0:
		return r, fmt.Errorf("%q has every address, which would open a firewall to all", text)
	case r != r.Masked():
		return r, fmt.Errorf("%q is an address within the range %s; write either of them", text, r.Masked())
	}
	return r, nil
}

func isTracesSampler(text string, _ setting, _ Config) error {
	if !slices.Contains(TracesSamplers, text) {
		return fmt.Errorf("%q is none of %s", text, strings.Join(TracesSamplers, ", "))
	}
	return nil
}

// isShare checks that the argument of a trace sampler is a share from 0 to 1. Samplers that take no share accept
// any argument.
func isShare(text string, _ setting, c Config) error {
	if !strings.HasSuffix(c.TracesSampler, "traceidratio") {
		return nil
	}
	if share, err := strconv.ParseFloat(text, 64); err != nil || !(share >= 0 && share <= 1) {
		return fmt.Errorf("%q is not a share from 0 to 1, such as 0.1", text)
	}
	return nil
}

func isProxyHeader(text string, _ setting, _ Config) error {
	if text != "X-Real-IP" && text != "X-Forwarded-For" {
		return fmt.Errorf("%q is not X-Real-IP or X-Forwarded-For", text)
	}
	return nil
}

func isLogFormat(text string, _ setting, _ Config) error {
	if text != "json" && text != "text" {
		return fmt.Errorf("%q is not json or text", text)
	}
	return nil
}

func isSMTPURL(text string, _ setting, _ Config) error {
	if _, err := mail.ParseSMTPURL(text); err != nil {
		// The list of mistakes names the variable itself.
		return errors.New(strings.TrimPrefix(err.Error(), "mail: SMTP_URL "))
	}
	return nil
}

func isMailAddress(text string, _ setting, _ Config) error {
	if _, err := netmail.ParseAddress(text); err != nil {
		return fmt.Errorf("%q is not an address such as Deposits <no-reply@example.com>", text)
	}
	return nil
}

func isHTTPURL(text string, _ setting, _ Config) error {
	if !isHTTP(text) {
		return errors.New("is not an http or https URL")
	}
	return nil
}

func isPublicURL(text string, _ setting, c Config) error {
	u, err := url.Parse(text)
	if err != nil || !isHTTP(text) || u.User != nil || !oneline.Valid(text) || strings.ContainsRune(text, ' ') {
		return errors.New("is not a URL such as https://example.com/terms")
	}
	if u.Scheme != "https" && c.Environment == partner.EnvironmentProduction {
		return errors.New("must be https in production")
	}
	return nil
}

func isPlainAddress(text string, _ setting, _ Config) error {
	if parsed, err := netmail.ParseAddress(text); err != nil || parsed.Address != text {
		return fmt.Errorf("%q is not an address such as help@example.com", text)
	}
	return nil
}

func isHTTP(text string) bool {
	u, err := url.Parse(text)
	return err == nil && (u.Scheme == "http" || u.Scheme == "https") && u.Host != ""
}
