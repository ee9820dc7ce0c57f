package mail

import (
	"errors"
	"net/url"
	"strconv"
	"strings"

	"partnerdeposits/core/secret"
)

type StartTLSPolicy string

const (
	// STARTTLS is required; the default if SMTP_URL has a password.
	StartTLSAlways StartTLSPolicy = "always"
	// STARTTLS is used if the server offers it; the default if SMTP_URL has no password.
	StartTLSAuto  StartTLSPolicy = "auto"
	StartTLSNever StartTLSPolicy = "never"
)

type SMTPServer struct {
	Host string
	Port int
	// Whether the SMTP connection is encrypted from its first byte (smtps).
	TLS      bool
	StartTLS StartTLSPolicy
	User     string // The user name for the SMTP log-in; "" means no log-in.
	Password secret.Text
}

// ParseSMTPURL parses smtp://user:password@host:587?starttls=always|auto|never or
// smtps://user:password@host:465. Its error quotes nothing of the URL.
func ParseSMTPURL(raw string) (SMTPServer, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" || (u.Scheme != "smtp" && u.Scheme != "smtps") ||
		strings.Trim(u.Path, "/")+u.Fragment != "" {
		return SMTPServer{}, errors.New("mail: SMTP_URL is not an smtp or smtps URL such as smtp://user:password@host:587")
	}
	s := SMTPServer{Host: u.Hostname(), Port: 587, TLS: u.Scheme == "smtps", StartTLS: StartTLSAuto}
	if s.TLS {
		s.Port = 465
	}
	if port := u.Port(); port != "" {
		if s.Port, err = strconv.Atoi(port); err != nil || s.Port < 1 || s.Port > 65535 {
			return SMTPServer{}, errors.New("mail: SMTP_URL has an impossible port")
		}
	}
	if u.User != nil {
		password, _ := u.User.Password()
		s.User, s.Password, s.StartTLS = u.User.Username(), secret.Text(password), StartTLSAlways
		if s.User == "" || password == "" {
			return SMTPServer{}, errors.New("mail: SMTP_URL needs both user and password, or neither")
		}
	}
	err = s.parameters(u.RawQuery)
	return s, err
}

func (s *SMTPServer) parameters(raw string) error {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return errors.New("mail: SMTP_URL has parameters that cannot be read")
	}
	for name, values := range query {
		if name != "starttls" || len(values) != 1 || s.TLS {
			return errors.New("mail: SMTP_URL takes one parameter only, starttls, and with smtp:// only")
		}
		s.StartTLS = StartTLSPolicy(values[0])
	}
	switch s.StartTLS {
	case StartTLSAlways, StartTLSAuto, StartTLSNever:
		return nil
	}
	return errors.New("mail: starttls in SMTP_URL is always, auto or never")
}
