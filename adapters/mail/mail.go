// Package mail sends mails over SMTP, or, where no server is configured, tells the log that it would have.
package mail

import (
	"context"
	"crypto/tls"
	"crypto/x509"
	"errors"
	"fmt"
	"log/slog"
	"net"
	netmail "net/mail"
	"strings"
	"time"
	"unicode"

	gomail "github.com/wneessen/go-mail"

	"partnerdeposits/core/mailaddr"
	"partnerdeposits/ports"
)

// patience bounds one mail, from the connection to the server's word that it took it. A batch of them is claimed for five
// minutes, and twenty must fit.
const patience = 10 * time.Second

// ErrRecipient is returned for a recipient that is not one plain address.
var ErrRecipient = errors.New("mail: the recipient is not an address")

// New makes a mailer from SMTP_URL and MAIL_FROM (see ParseURL). Without a URL it makes one that only logs recipient and
// subject: bodies carry links that are secrets.
//
// Returns an error that says what is wrong with them and shows no password.
func New(smtpURL, from string, log *slog.Logger) (ports.Mailer, error) {
	if smtpURL == "" {
		return logMailer{log}, nil
	}
	s, err := ParseURL(smtpURL)
	if err != nil {
		return nil, err
	}
	sender, err := netmail.ParseAddress(from)
	if err != nil {
		return nil, errors.New("mail: MAIL_FROM is not an address such as Deposits <no-reply@example.com>")
	}
	return &mailer{server: s, from: sender, patience: patience}, nil
}

type logMailer struct{ log *slog.Logger }

// Send implements ports.Mailer.
func (l logMailer) Send(ctx context.Context, m ports.Mail) error {
	l.log.InfoContext(ctx, "mail: not sent, because SMTP_URL is not set", "to", m.To, "subject", m.Subject)
	return nil
}

type mailer struct {
	server   Server
	from     *netmail.Address
	patience time.Duration
	roots    *x509.CertPool // nil outside tests: the system's
}

// Send implements ports.Mailer. A mail that the server took counts as sent, whatever happens to the connection then.
//
// Returns ErrRecipient.
func (s *mailer) Send(ctx context.Context, m ports.Mail) error {
	message, err := s.compose(m)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.patience)
	defer cancel() // ends the connection too
	client, err := gomail.NewClient(s.server.Host, s.options(ctx)...)
	if err != nil {
		return fmt.Errorf("mail: %w", err)
	}
	if err := client.DialAndSendWithContext(ctx, message); err != nil && !message.IsDelivered() {
		return fmt.Errorf("mail: %w", err)
	}
	return nil
}

func (s *mailer) compose(m ports.Mail) (*gomail.Msg, error) {
	if !mailaddr.Valid(m.To) {
		return nil, ErrRecipient
	}
	message := gomail.NewMsg()
	message.FromMailAddress(s.from)
	message.ToMailAddress(&netmail.Address{Address: m.To})
	message.Subject(oneLine(m.Subject))
	message.SetDateWithValue(m.CreatedAt)
	message.SetMessageIDWithValue(m.ID.String() + "@" + s.domain()) // the same for each try, so that a second copy is known as one
	message.SetGenHeader("Auto-Submitted", "auto-generated")
	message.SetBodyString(gomail.TypeTextPlain, m.Body)
	return message, nil
}

// domain is what we are called where a mail server wants to know: the name of the machine may be anything.
func (s *mailer) domain() string {
	return s.from.Address[strings.LastIndexByte(s.from.Address, '@')+1:]
}

// oneLine makes a header's text of what may come from outside.
func oneLine(s string) string {
	return strings.Map(func(r rune) rune {
		if unicode.IsControl(r) || r == '\u2028' || r == '\u2029' {
			return ' '
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// options shape a client for one mail: a client is no more than that, and changes while it authenticates.
func (s *mailer) options(ctx context.Context) []gomail.Option {
	policies := map[StartTLS]gomail.TLSPolicy{StartTLSAlways: gomail.TLSMandatory, StartTLSAuto: gomail.TLSOpportunistic, StartTLSNever: gomail.NoTLS}
	policy := policies[s.server.StartTLS]
	if s.server.TLS {
		policy = gomail.TLSOpportunistic // the library finds the connection encrypted and leaves it at that
	}
	options := []gomail.Option{
		gomail.WithPort(s.server.Port), gomail.WithHELO(s.domain()), gomail.WithTimeout(s.patience), gomail.WithTLSPolicy(policy), gomail.WithTLSConfig(s.tls()),
		gomail.WithDialContextFunc(func(dialling context.Context, network, address string) (net.Conn, error) {
			c, err := s.dial(dialling, network, address)
			if err == nil { // the library leaves a connection open when the server's greeting or login fails
				context.AfterFunc(ctx, func() { _ = c.Close() })
			}
			return c, err
		}),
	}
	if s.server.User != "" {
		options = append(options, gomail.WithSMTPAuth(gomail.SMTPAuthAutoDiscover),
			gomail.WithUsername(s.server.User), gomail.WithPassword(s.server.Password.Reveal()))
	}
	return options
}

func (s *mailer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if !s.server.TLS {
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	return (&tls.Dialer{Config: s.tls()}).DialContext(ctx, network, address)
}

func (s *mailer) tls() *tls.Config {
	return &tls.Config{ServerName: s.server.Host, MinVersion: tls.VersionTLS12, RootCAs: s.roots}
}
