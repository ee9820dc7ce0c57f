// Package mail sends mails over SMTP. Without an SMTP server it only logs recipient and subject.
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
	// patience bounds the time until an SMTP server is ready for a mail.
	patience = 10 * time.Second
	// delivery bounds the time of sending a mail: spam checks delay the acknowledgement, without which the mail
	// may be sent twice.
	delivery = 2 * time.Minute
)

// ErrInvalidRecipient is returned for a recipient that is not a single plain address.
var ErrInvalidRecipient = errors.New("mail: the recipient is not an address")

// New makes a mailer from SMTP_URL and MAIL_FROM. Without a URL it only logs recipient and subject: bodies
// contain secret links.
func New(smtpURL, from string, log *slog.Logger) (ports.Mailer, error) {
	if smtpURL == "" {
		return logMailer{log}, nil
	}
	s, err := ParseSMTPURL(smtpURL)
	if err != nil {
		return nil, err
	}
	sender, err := netmail.ParseAddress(from)
	if err != nil {
		return nil, errors.New("mail: MAIL_FROM is not an address such as Deposits <no-reply@example.com>")
	}
	return &smtpMailer{server: s, from: sender, patience: patience, delivery: delivery}, nil
}

type logMailer struct{ log *slog.Logger }

func (l logMailer) Send(ctx context.Context, m ports.Mail) error {
	l.log.InfoContext(ctx, "mail: not sent, because SMTP_URL is not set", "to", m.To, "subject", m.Subject)
	return nil
}

type smtpMailer struct {
	server   SMTPServer
	from     *netmail.Address
	patience time.Duration
	delivery time.Duration
	// Certificates that may sign the SMTP server's certificate; nil means those of the system.
	roots *x509.CertPool
}

// Send sends a mail over SMTP, or returns ErrInvalidRecipient. A mail that the server acknowledged counts as
// sent.
func (s *smtpMailer) Send(ctx context.Context, m ports.Mail) error {
	message, err := s.compose(m)
	if err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, s.patience+s.delivery)
	defer cancel()
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
		// An error at the end of the connection is ignored: the SMTP server has already taken the mail.
		_ = client.CloseWithSMTPClient(server)
	}
	return nil
}

// refusal is the error for a mail that the SMTP server did not take. It quotes no text of a mail that may
// contain a secret.
func refusal(m ports.Mail, err error) error {
	var refused *gomail.SendError
	if (m.LinkOf.IsZero() && m.HTML == "") || !errors.As(err, &refused) {
		return fmt.Errorf("mail: %w", err)
	}
	return fmt.Errorf("mail: %s: code %d %s", refused.Reason, refused.ErrorCode(), refused.EnhancedStatusCode())
}

func (s *smtpMailer) compose(m ports.Mail) (*gomail.Msg, error) {
	if !mailaddr.Valid(m.To) {
		return nil, ErrInvalidRecipient
	}
	message := gomail.NewMsg()
	message.FromMailAddress(s.from)
	message.ToMailAddress(&netmail.Address{Address: m.To})
	message.Subject(oneline.Clean(m.Subject))
	message.SetDateWithValue(m.CreatedAt)
	// Every attempt has the same Message-ID, so that receivers can recognise a second copy of a mail.
	message.SetMessageIDWithValue(id.Mail.Of(m.ID) + "@" + s.domain())
	message.SetGenHeader("Auto-Submitted", "auto-generated")
	message.SetBodyString(gomail.TypeTextPlain, m.Body)
	if m.HTML != "" {
		message.AddAlternativeString(gomail.TypeTextHTML, m.HTML)
	}
	return message, nil
}

// domain returns the domain of the sender's address, which is also the client's name in the SMTP greeting.
func (s *smtpMailer) domain() string {
	return s.from.Address[strings.LastIndexByte(s.from.Address, '@')+1:]
}

// options returns the settings of a new SMTP client for each mail: a client changes while it authenticates.
func (s *smtpMailer) options(ctx context.Context, timeout time.Duration) []gomail.Option {
	policies := map[StartTLSPolicy]gomail.TLSPolicy{StartTLSAlways: gomail.TLSMandatory,
		StartTLSAuto:  gomail.TLSOpportunistic,
		StartTLSNever: gomail.NoTLS}
	policy := policies[s.server.StartTLS]
	if s.server.TLS {
		// If the connection is encrypted from its beginning, the mail library skips STARTTLS.
		policy = gomail.TLSOpportunistic
	}
	options := []gomail.Option{
		gomail.WithPort(s.server.Port), gomail.WithHELO(s.domain()), gomail.WithTimeout(timeout),
		gomail.WithTLSPolicy(policy), gomail.WithTLSConfig(s.tls()),
		gomail.WithDialContextFunc(func(dialling context.Context, network, address string) (net.Conn, error) {
			c, err := s.dial(dialling, network, address)
			// Close the connection when the attempt ends: the mail library does not, if the server's greeting or the log-in
			// fails.
			if err == nil {
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

func (s *smtpMailer) dial(ctx context.Context, network, address string) (net.Conn, error) {
	if !s.server.TLS {
		return (&net.Dialer{}).DialContext(ctx, network, address)
	}
	return (&tls.Dialer{Config: s.tls()}).DialContext(ctx, network, address)
}

func (s *smtpMailer) tls() *tls.Config {
	return &tls.Config{ServerName: s.server.Host, MinVersion: tls.VersionTLS12, RootCAs: s.roots}
}
