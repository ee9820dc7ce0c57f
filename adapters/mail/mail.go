// Package mail sends mails over SMTP. Without a server it only logs them.
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

	gomail "github.com/wneessen/go-mail"

	"partnerdeposits/core/id"
	"partnerdeposits/core/mailaddr"
	"partnerdeposits/core/oneline"
	ports "partnerdeposits/ports/platform"
)

const (
	// patience bounds the way to a server that is ready for a mail: connection, greeting, encryption, log-in.
	patience = 10 * time.Second
	// delivery bounds the sending of the mail to a ready server. Servers that look for spam take time before they
	// acknowledge a mail; an attempt that ends before the acknowledgement may send the mail twice.
	delivery = 2 * time.Minute
)

// ErrRecipient is returned for a recipient that is not a single plain address.
var ErrRecipient = errors.New("mail: the recipient is not an address")

// New makes a mailer from SMTP_URL and MAIL_FROM (see ParseURL). Without a URL the mailer only logs recipient and
// subject: bodies contain secret links.
//
// Returns an error that names the mistake and contains no password.
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
	return &mailer{server: s, from: sender, patience: patience, delivery: delivery}, nil
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
	delivery time.Duration
	roots    *x509.CertPool // nil outside tests: the system's certificates
}

// Send implements ports.Mailer. A mail that the server acknowledged counts as sent, even if the connection fails
// afterwards.
//
// Returns ErrRecipient.
func (s *mailer) Send(ctx context.Context, m ports.Mail) error {
	message, err := s.compose(m)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.patience+s.delivery)
	defer cancel() // ends the connection too
	client, err := gomail.NewClient(s.server.Host, s.options(ctx, s.patience)...)
	if err != nil {
		return fmt.Errorf("mail: %w", err)
	}
	patient, err := gomail.NewClient(s.server.Host, s.options(ctx, s.delivery)...)
	if err != nil {
		return fmt.Errorf("mail: %w", err)
	}
	server, err := client.DialToSMTPClientWithContext(ctx)
	if err != nil {
		return fmt.Errorf("mail: %w", err)
	}
	if err := patient.SendWithSMTPClient(server, message); err != nil && !message.IsDelivered() {
		return refusal(m, err)
	}
	if server.UpdateDeadline(s.patience) == nil {
		_ = client.CloseWithSMTPClient(server) // a server that took the mail owes no farewell
	}
	return nil
}

// refusal is the error of a server that did not take m. Some servers quote the text of a mail that they refuse, so the
// error of a mail that may contain a secret, which is each mail that is encrypted at rest, has only the step and the
// codes.
func refusal(m ports.Mail, err error) error {
	var refused *gomail.SendError
	if (m.LinkOf.IsZero() && m.HTML == "") || !errors.As(err, &refused) {
		return fmt.Errorf("mail: %w", err)
	}
	return fmt.Errorf("mail: %s: code %d %s", refused.Reason, refused.ErrorCode(), refused.EnhancedStatusCode())
}

func (s *mailer) compose(m ports.Mail) (*gomail.Msg, error) {
	if !mailaddr.Valid(m.To) {
		return nil, ErrRecipient
	}
	message := gomail.NewMsg()
	message.FromMailAddress(s.from)
	message.ToMailAddress(&netmail.Address{Address: m.To})
	message.Subject(oneline.Clean(m.Subject))
	message.SetDateWithValue(m.CreatedAt)
	// every attempt has the same id, so that receivers can recognise a second copy
	message.SetMessageIDWithValue(id.Message.Of(m.ID) + "@" + s.domain())
	message.SetGenHeader("Auto-Submitted", "auto-generated")
	message.SetBodyString(gomail.TypeTextPlain, m.Body)
	if m.HTML != "" {
		message.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	}
	return message, nil
}

// domain is the sender's domain, given to mail servers as the client's name. The name of the machine may be arbitrary.
func (s *mailer) domain() string {
	return s.from.Address[strings.LastIndexByte(s.from.Address, '@')+1:]
}

// options configure the client of a single mail. Clients are not reused, because a client changes while it
// authenticates.
func (s *mailer) options(ctx context.Context, timeout time.Duration) []gomail.Option {
	policies := map[StartTLS]gomail.TLSPolicy{StartTLSAlways: gomail.TLSMandatory, StartTLSAuto: gomail.TLSOpportunistic,
		StartTLSNever: gomail.NoTLS}
	policy := policies[s.server.StartTLS]
	if s.server.TLS {
		policy = gomail.TLSOpportunistic // the library skips STARTTLS on an encrypted connection
	}
	options := []gomail.Option{
		gomail.WithPort(s.server.Port), gomail.WithHELO(s.domain()), gomail.WithTimeout(timeout),
		gomail.WithTLSPolicy(policy), gomail.WithTLSConfig(s.tls()),
		gomail.WithDialContextFunc(func(dialling context.Context, network, address string) (net.Conn, error) {
			c, err := s.dial(dialling, network, address)
			if err == nil { // the library leaves the connection open when the server's greeting or the login fails
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
