package mail

import (
	"bufio"
	"bytes"
	"context"
	"crypto/tls"
	"crypto/x509"
	"encoding/base64"
	"fmt"
	"io"
	"log/slog"
	"mime"
	"mime/multipart"
	"mime/quotedprintable"
	"net"
	netmail "net/mail"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	smtpmock "github.com/mocktools/go-smtp-mock/v2"
	"github.com/stretchr/testify/require"
	"go.uber.org/goleak"

	"partnerdeposits/core/id"
	"partnerdeposits/lab/hostiletest"
	ports "partnerdeposits/ports/platform"
)

func TestMain(m *testing.M) { goleak.VerifyTestMain(m) }

const from = "Deposits <no-reply@deposits.example>"

var written = time.Date(2026, 11, 20, 22, 40, 0, 0, time.UTC)

func aMail() ports.Mail {
	return ports.Mail{
		ID: id.ID{1, 2, 3}, To: "operator@hotel.example", Subject: "n’est plus relié à votre compte",
		Body: "Hello,\n\n.a line with a dot\nDépôt\n", CreatedAt: written,
	}
}

// mock starts a mail server.
func mock(t *testing.T, c smtpmock.ConfigurationAttr) *smtpmock.Server {
	c.MultipleMessageReceiving = true // otherwise the RSET after a mail discards the mail
	s := smtpmock.New(c)
	require.NoError(t, s.Start())
	t.Cleanup(func() { _ = s.Stop() })
	return s
}

func mailerFor(t *testing.T, url string) *smtpMailer {
	m, err := New(url, from, slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	return m.(*smtpMailer)
}

func plain(s *smtpmock.Server) string { return "smtp://127.0.0.1:" + strconv.Itoa(s.PortNumber()) }

// received waits for a mail and parses it.
func received(t *testing.T, s *smtpmock.Server) (smtpmock.Message, *netmail.Message, string) {
	require.Eventually(t, func() bool {
		m := s.Messages()
		return len(m) == 1 && m[0].QuitSent()
	}, time.Minute, time.Millisecond)
	messages := s.MessagesAndPurge()
	parsed, err := netmail.ReadMessage(strings.NewReader(messages[0].MsgRequest()))
	require.NoError(t, err)
	require.Equal(t, "quoted-printable", parsed.Header.Get("Content-Transfer-Encoding"))
	body, err := io.ReadAll(quotedprintable.NewReader(parsed.Body))
	require.NoError(t, err)
	return messages[0], parsed, strings.ReplaceAll(string(body), "\r\n", "\n")
}

func TestSend_HandsTheMailToTheServer(t *testing.T) {
	t.Parallel()
	s := mock(t, smtpmock.ConfigurationAttr{})
	require.NoError(t, mailerFor(t, plain(s)).Send(t.Context(), aMail()))
	envelope, message, body := received(t, s)
	require.Contains(t, envelope.MailfromRequest(), "<no-reply@deposits.example>")
	require.Len(t, envelope.RcpttoRequestResponse(), 1)
	require.Equal(t, "RCPT TO:<operator@hotel.example>", envelope.RcpttoRequestResponse()[0][0])
	h := message.Header
	require.Equal(t, `"Deposits" <no-reply@deposits.example>`, h.Get("From"))
	require.Equal(t, "<operator@hotel.example>", h.Get("To"))
	subject, err := new(mime.WordDecoder).DecodeHeader(h.Get("Subject"))
	require.NoError(t, err)
	require.Equal(t, "n’est plus relié à votre compte", subject)
	require.Equal(t, "Fri, 20 Nov 2026 22:40:00 +0000", h.Get("Date"))
	require.Equal(t, "<"+id.Mail.Of(aMail().ID)+"@deposits.example>", h.Get("Message-ID"))
	require.Equal(t, "auto-generated", h.Get("Auto-Submitted"))
	require.Equal(t, "text/plain; charset=UTF-8", h.Get("Content-Type"))
	require.Equal(t, "Hello,\n\n.a line with a dot\nDépôt\n", strings.TrimSuffix(body, "\n")+"\n")
}

func TestSend_WithHTML_SendsBothTexts(t *testing.T) {
	t.Parallel()
	s := mock(t, smtpmock.ConfigurationAttr{})
	sent := aMail()
	sent.HTML = "<p>Dépôt <a href=\"https://d.example/checkout/a=b\">x</a></p>"
	require.NoError(t, mailerFor(t, plain(s)).Send(t.Context(), sent))
	require.Eventually(t, func() bool { return len(s.Messages()) == 1 && s.Messages()[0].QuitSent() }, time.Minute,
		time.Millisecond)
	message, err := netmail.ReadMessage(strings.NewReader(s.Messages()[0].MsgRequest()))
	require.NoError(t, err)
	kind, params, err := mime.ParseMediaType(message.Header.Get("Content-Type"))
	require.NoError(t, err)
	require.Equal(t, "multipart/alternative", kind)
	parts := multipart.NewReader(message.Body, params["boundary"])
	for _, want := range [][2]string{{"text/plain; charset=UTF-8", sent.Body}, {"text/html; charset=UTF-8", sent.HTML}} {
		part, err := parts.NextPart() // decodes quoted-printable
		require.NoError(t, err)
		require.Equal(t, want[0], part.Header.Get("Content-Type"))
		text, err := io.ReadAll(part)
		require.NoError(t, err)
		require.Equal(t, strings.TrimSpace(want[1]), strings.TrimSpace(strings.ReplaceAll(string(text), "\r\n", "\n")))
	}
	_, err = parts.NextPart()
	require.ErrorIs(t, err, io.EOF)
}

// Spam filters quote the address that they refuse.
func TestSend_OfALinkThatTheServerQuotes_KeepsTheLinkOutOfTheError(t *testing.T) {
	t.Parallel()
	link, reset := aMail(), aMail()
	link.LinkOf, reset.HTML = id.ID{9}, "<p>https://d.example/password/reset?token=secret</p>"
	const refused = "550 5.7.1 blocked: https://d.example/checkout/secret"
	for name, lines := range map[string][]string{
		"sender": {"220 mx", "250 mx", "250 noop", refused}, "recipient": {"220 mx", "250 mx", "250 noop", "250 ok", refused},
		"data": {"220 mx", "250 mx", "250 noop", "250 ok", "250 ok", refused},
		"text": {"220 mx", "250 mx", "250 noop", "250 ok", "250 ok", "354 go", refused},
	} {
		for _, sent := range []ports.Mail{link, reset} {
			address, _ := script(t, append(lines, "221 bye")...)
			err := mailerFor(t, "smtp://"+address).Send(t.Context(), sent)
			require.ErrorContains(t, err, "550", name)
			require.NotContains(t, err.Error(), "secret", name)
		}
	}
}

// A server that looks for spam takes its time. The attempt must not end before its answer, or the mail is sent twice.
func TestSend_ToAServerThatAcknowledgesLate_Waits(t *testing.T) {
	t.Parallel()
	m := mailerFor(t, "smtp://127.0.0.1:1")
	require.Greater(t, m.delivery, time.Minute)
	require.Less(t, 2*(m.patience+m.delivery), 280*time.Second,
		"two rounds of a batch end before its lease (app/platform/schedules/mails.go)")
}

func TestSend_OfASubjectWithLineBreaks_AddsNoHeader(t *testing.T) {
	t.Parallel()
	s := mock(t, smtpmock.ConfigurationAttr{})
	m := mailerFor(t, plain(s))
	for _, subject := range []string{
		"a\r\nBcc: victim@example.com", "a\nBcc: victim@example.com", "a\rBcc: victim@example.com",
		"a\r\n\r\nBcc: victim@example.com",
		"a\r\n.\r\nRCPT TO:<victim@example.com>", "é\r\nBcc: victim@example.com", "a\u2028Bcc: victim@example.com",
		"a\u0085Bcc: victim@example.com",
		"a\x00\x0bBcc: victim@example.com", "=?utf-8?q?a=0D=0ABcc:_victim@example.com?=",
		strings.Repeat("x", 2000) + "\r\nBcc: victim@example.com", "\xff\r\nBcc: v@example.com",
	} {
		sent := aMail()
		sent.Subject = subject
		require.NoError(t, m.Send(t.Context(), sent))
		envelope, message, body := received(t, s)
		require.Len(t, envelope.RcpttoRequestResponse(), 1)
		require.Empty(t, message.Header["Bcc"], "%q", subject)
		require.Len(t, message.Header["Subject"], 1)
		require.True(t, strings.HasPrefix(body, "Hello,\n"), "%q", body)
	}
}

func TestSend_ToWhatIsNoAddress_IsRefused(t *testing.T) {
	t.Parallel()
	s := mock(t, smtpmock.ConfigurationAttr{})
	m := mailerFor(t, plain(s))
	for _, to := range []string{
		"", "operator", "a@b@c.example", "a@hotel.example\r\nBcc: victim@example.com",
		"a@hotel.example\r\nRCPT TO:<victim@example.com>", "a@hotel.example>\r\nDATA\r\n",
		"a@hotel.example, victim@example.com", "<a@hotel.example>", "A <a@hotel.example>", "\"a b\"@hotel.example",
		"a@hotel.example\x00", "a@[127.0.0.1]", "a\n@hotel.example",
	} {
		sent := aMail()
		sent.To = to
		require.ErrorIs(t, m.Send(t.Context(), sent), ErrInvalidRecipient, "%q", to)
	}
	require.Empty(t, s.Messages())
}

func TestSend_OfABodyWithCommands_SendsThemAsText(t *testing.T) {
	t.Parallel()
	s := mock(t, smtpmock.ConfigurationAttr{})
	sent := aMail()
	sent.Body = "one\r\n.\r\nMAIL FROM:<x@example.com>\r\nRCPT TO:<victim@example.com>\r\nDATA\r\ntwo"
	require.NoError(t, mailerFor(t, plain(s)).Send(t.Context(), sent))
	envelope, _, body := received(t, s)
	require.Len(t, envelope.RcpttoRequestResponse(), 1)
	require.Contains(t, body, "\nRCPT TO:<victim@example.com>\nDATA\ntwo")
}

// script is a mail server that answers each line of the client with the next line of the script, and records the
// client's lines.
func script(t *testing.T, lines ...string) (address string, heard func() []string) {
	l, err := net.Listen("tcp", "127.0.0.1:0")
	require.NoError(t, err)
	var said []string
	var wg sync.WaitGroup
	wg.Go(func() {
		c, err := l.Accept()
		if err != nil {
			return
		}
		defer func() { _ = c.Close() }()
		in := bufio.NewReader(c)
		for _, line := range lines {
			if _, err := io.WriteString(c, line+"\r\n"); err != nil {
				return
			}
			if strings.HasPrefix(line, "221") || strings.HasPrefix(line, "421") {
				return
			}
			answer, err := in.ReadString('\n')
			if err != nil {
				return
			}
			said = append(said, strings.TrimSpace(answer))
			for strings.HasPrefix(line, "354") && answer != ".\r\n" && err == nil {
				answer, err = in.ReadString('\n')
			}
		}
		_, _ = io.Copy(io.Discard, in)
	})
	t.Cleanup(func() { _ = l.Close(); wg.Wait() })
	return l.Addr().String(), func() []string { wg.Wait(); return said }
}

func TestSend_ToAServerThatHangs_EndsInTime(t *testing.T) {
	t.Parallel()
	for name, lines := range map[string][]string{
		"greeting": nil, "EHLO": {"220 mx"}, "sender": {"220 mx", "250 mx", "250 ok"},
		"data": {"220 mx", "250 mx", "250 noop", "250 ok", "250 ok", "354 go"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			address, _ := script(t, lines...)
			m := mailerFor(t, "smtp://"+address)
			m.patience, m.delivery = 300*time.Millisecond, 200*time.Millisecond
			require.Error(t, m.Send(t.Context(), aMail()))
		})
	}
}

func TestSend_CalledOff_Ends(t *testing.T) {
	t.Parallel()
	address, _ := script(t, "220 mx")
	ctx, cancel := context.WithCancel(t.Context())
	cancel()
	require.ErrorIs(t, mailerFor(t, "smtp://"+address).Send(ctx, aMail()), context.Canceled)
	c, err := net.Dial("tcp", address) // ends the script's Accept
	require.NoError(t, err)
	require.NoError(t, c.Close())
}

// A failure here would send the mail again and again.
func TestSend_ToAServerThatLeavesAfterTakingTheMail_IsSent(t *testing.T) {
	t.Parallel()
	address, heard := script(t, "220 mx", "250 mx", "250 noop", "250 ok", "250 ok", "354 go", "250 queued",
		"421 out of here")
	m := mailerFor(t, "smtp://"+address)
	require.NoError(t, m.Send(t.Context(), aMail()))
	require.Contains(t, heard(), "DATA")
}

func TestSend_WithAPassword_KeepsItFromAPlainConnection(t *testing.T) {
	t.Parallel()
	for _, query := range []string{"", "?starttls=always", "?starttls=auto", "?starttls=never"} {
		address, heard := script(t, "220 mx", "250-mx\r\n250 AUTH PLAIN LOGIN", "500 no")
		_, port, err := net.SplitHostPort(address)
		require.NoError(t, err)
		m := mailerFor(t, "smtp://user:hunter2@127.0.0.1:"+port+query)
		require.Error(t, m.Send(t.Context(), aMail()))
		for _, line := range heard() {
			require.NotContains(t, line, "AUTH", query)
			require.NotContains(t, line, base64.StdEncoding.EncodeToString([]byte("hunter2")))
		}
	}
}

// encrypted puts TLS with a certificate for 127.0.0.1 in front of the script.
func encrypted(t *testing.T, address string) (string, *x509.CertPool) {
	ca := hostiletest.NewCertificateAuthority(t)
	l, err := tls.Listen("tcp", "127.0.0.1:0", ca.IssueServerConfig(t, nil))
	require.NoError(t, err)
	var wg sync.WaitGroup
	wg.Go(func() {
		outside, err := l.Accept()
		if err != nil {
			return
		}
		defer func() { _ = outside.Close() }()
		inside, err := net.Dial("tcp", address)
		if err != nil {
			return
		}
		defer func() { _ = inside.Close() }()
		wg.Go(func() { _, _ = io.Copy(outside, inside); _ = outside.Close() })
		_, _ = io.Copy(inside, outside)
	})
	t.Cleanup(func() { _ = l.Close(); wg.Wait() })
	return l.Addr().String(), ca.ClientTLSConfig().RootCAs
}

func TestSend_OverTLS_LogsIn(t *testing.T) {
	t.Parallel()
	inside, heard := script(t, "220 mx", "250-mx\r\n250 AUTH PLAIN LOGIN", "235 welcome", "250 noop", "250 ok", "250 ok",
		"354 go", "250 queued", "250 reset", "221 bye")
	address, pool := encrypted(t, inside)
	m := mailerFor(t, "smtps://us%40er:hunter2@"+address)
	m.roots = pool
	require.NoError(t, m.Send(t.Context(), aMail()))
	require.Contains(t, heard(), "AUTH PLAIN "+base64.StdEncoding.EncodeToString([]byte("\x00us@er\x00hunter2")))
}

func TestSend_OverTLSWithAnUnknownCertificate_IsRefused(t *testing.T) {
	t.Parallel()
	s := mock(t, smtpmock.ConfigurationAttr{})
	address, _ := encrypted(t, "127.0.0.1:"+strconv.Itoa(s.PortNumber()))
	var unknown x509.UnknownAuthorityError
	require.ErrorAs(t, mailerFor(t, "smtps://user:hunter2@"+address).Send(t.Context(), aMail()), &unknown)
}

func TestNew_WithoutServer_LogsRecipientAndSubject(t *testing.T) {
	t.Parallel()
	var b bytes.Buffer
	m, err := New("", "", slog.New(slog.NewTextHandler(&b, nil)))
	require.NoError(t, err)
	sent := aMail()
	sent.Body = "https://deposits.example/reset/hunter2"
	require.NoError(t, m.Send(t.Context(), sent))
	require.Contains(t, b.String(), "operator@hotel.example")
	require.Contains(t, b.String(), "relié")
	require.NotContains(t, b.String(), "hunter2")
}

func TestNew_RefusesWhatItCannotUse_WithoutShowingIt(t *testing.T) {
	t.Parallel()
	for _, url := range []string{
		"http://user:hunter2@mx", "mx:25", "smtp://", "smtp://user:hunter2@", "smtp://user:hunter2@mx:0",
		"smtp://user:hunter2@mx:99999", "smtp://user:hunter2@mx:port",
		"smtp://user:hunter2@mx/path", "smtp://user:hunter2@mx#x", "smtp://user@mx", "smtp://:hunter2@mx",
		"smtp://user:hunter2@mx?starttls=maybe", "smtp://user:hunter2@mx?tls=1",
		"smtps://user:hunter2@mx?starttls=always", "smtp://user:hunter2@mx?starttls=auto&starttls=never",
		"smtp://user:hunter2@mx?%zz", "smtp://user:hunter2\x7f@mx",
	} {
		_, err := New(url, from, slog.New(slog.DiscardHandler))
		require.Error(t, err, url)
		require.NotContains(t, err.Error(), "hunter2")
	}
	for _, sender := range []string{"", "nobody", "a@b.example, c@d.example", "a@b.example\r\nBcc: c@d.example"} {
		_, err := New("smtp://mx", sender, slog.New(slog.DiscardHandler))
		require.ErrorContains(t, err, "MAIL_FROM", sender)
	}
}

func TestParseURL(t *testing.T) {
	t.Parallel()
	cases := map[string]SMTPServer{
		"smtp://mx":                    {Host: "mx", Port: 587, StartTLS: StartTLSAuto},
		"smtp://mx:25/?starttls=never": {Host: "mx", Port: 25, StartTLS: StartTLSNever},
		"smtp://[::1]:1025":            {Host: "::1", Port: 1025, StartTLS: StartTLSAuto},
		"smtp://user:p%40ss@mx": {Host: "mx", Port: 587, StartTLS: StartTLSAlways, User: "user",
			Password: "p@ss"},
		"smtp://user:pass@mx:2525?starttls=auto": {Host: "mx", Port: 2525, StartTLS: StartTLSAuto, User: "user",
			Password: "pass"},
		"smtps://user:pass@mx": {Host: "mx", Port: 465, TLS: true, StartTLS: StartTLSAlways, User: "user", Password: "pass"},
		"smtps://mx:2465":      {Host: "mx", Port: 2465, TLS: true, StartTLS: StartTLSAuto},
	}
	for raw, want := range cases {
		got, err := ParseSMTPURL(raw)
		require.NoError(t, err, raw)
		require.Equal(t, want, got, raw)
		require.NotContains(t, fmt.Sprintf("%v %+v %#v", got, got, got), "pass@")
	}
}
