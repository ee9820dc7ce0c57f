package mail

import (
	"errors"
	"net/url"
	"strconv"
	"strings"

	"partnerdeposits/core/secret"
)

// StartTLS decides whether a plain connection is encrypted after its start.
type StartTLS string

// The values of ?starttls=.
const (
	StartTLSAlways StartTLS = "always" // refuses a server without STARTTLS; the default with a password
	StartTLSAuto   StartTLS = "auto"   // uses STARTTLS if the server offers it; the default without a password
	StartTLSNever  StartTLS = "never"
)

// Server is a parsed SMTP_URL.
type Server struct {
	Host     string
	Port     int
	TLS      bool // encrypted from the first byte on
	StartTLS StartTLS
	User     string // "": no login
	Password secret.Text
}

// ParseURL reads smtp://user:password@host:587?starttls=always|auto|never or smtps://user:password@host:465. User and
// password (percent-encoded), port and starttls are optional.
//
// Returns an error that names the mistake and quotes nothing of the URL.
func ParseURL(raw string) (Server, error) {
	u, err := url.Parse(raw)
	if err != nil || u.Hostname() == "" || (u.Scheme != "smtp" && u.Scheme != "smtps") ||
		strings.Trim(u.Path, "/")+u.Fragment != "" {
		return Server{}, errors.New("mail: SMTP_URL is not an smtp or smtps URL such as smtp://user:password@host:587")
	}
	s := Server{Host: u.Hostname(), Port: 587, TLS: u.Scheme == "smtps", StartTLS: StartTLSAuto}
	if s.TLS {
		s.Port = 465
	}
	if port := u.Port(); port != "" {
		if s.Port, err = strconv.Atoi(port); err != nil || s.Port < 1 || s.Port > 65535 {
			return Server{}, errors.New("mail: SMTP_URL has an impossible port")
		}
	}
	if u.User != nil {
		password, _ := u.User.Password()
		s.User, s.Password, s.StartTLS = u.User.Username(), secret.Text(password), StartTLSAlways
		if s.User == "" || password == "" {
			return Server{}, errors.New("mail: SMTP_URL needs both user and password, or neither")
		}
	}
	err = s.parameters(u.RawQuery)
	return s, err
}

func (s *Server) parameters(raw string) error {
	query, err := url.ParseQuery(raw)
	if err != nil {
		return errors.New("mail: SMTP_URL has parameters that cannot be read")
	}
	for name, values := range query {
		if name != "starttls" || len(values) != 1 || s.TLS {
			return errors.New("mail: SMTP_URL takes one parameter only, starttls, and with smtp:// only")
		}
		s.StartTLS = StartTLS(values[0])
	}
	switch s.StartTLS {
	case StartTLSAlways, StartTLSAuto, StartTLSNever:
		return nil
	}
	return errors.New("mail: starttls in SMTP_URL is always, auto or never")
}
