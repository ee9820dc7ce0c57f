//go:build !unit

package mails_test

import (
	"context"
	"errors"
	"log/slog"
	"os"
	"os/exec"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/mail"
	"partnerdeposits/adapters/postgres"
	"partnerdeposits/adapters/secrets"
	"partnerdeposits/app/platform/mails"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/mailbox"
	"partnerdeposits/lab/servicetest"
	ports "partnerdeposits/ports/platform"
)

// A process with these settings is the victim of TestMails_KilledBeforeTheRecord.
const (
	victimDatabase = "MAIL_VICTIM_DATABASE_URL"
	victimSMTP     = "MAIL_VICTIM_SMTP_URL"
)

func TestMain(m *testing.M) {
	if url := os.Getenv(victimDatabase); url != "" {
		os.Exit(victim(url, os.Getenv(victimSMTP)))
	}
	servicetest.RunTests(m)
}

// victim sends the due mails as a dispatcher does, and dies between the server's 250 and the record.
func victim(databaseURL, smtpURL string) int {
	pool, err := postgres.NewPool(context.Background(), databaseURL, postgres.PoolOptions{})
	if err != nil {
		return 2
	}
	cipher, err := secrets.OpenKeyset(secrets.DevelopmentKeyset)
	if err != nil {
		return 2
	}
	mailer, err := mail.New(smtpURL, "no-reply@deposits.example", slog.New(slog.DiscardHandler))
	if err != nil {
		return 2
	}
	_, _ = mails.MailSendingJob(postgres.NewStore(pool, cipher, postgres.Options{}).Mails, deadly{mailer}, &tally{},
		time.Second).Run(context.Background())
	return 1 // the process should be dead
}

// deadly kills the process once the server has the mail.
type deadly struct{ ports.Mailer }

func (d deadly) Send(ctx context.Context, m ports.Mail) error {
	if err := d.Mailer.Send(ctx, m); err != nil {
		return err
	}
	_ = syscall.Kill(syscall.Getpid(), syscall.SIGKILL)
	select {}
}

// smtpServer takes mails, and fails once, at a step as told.
type smtpServer struct {
	*mailbox.Server
	step   string      // a command, mailbox.Greeting or mailbox.Text; "": no failure
	answer string      // mailbox.Cut: the connection is cut
	failed atomic.Bool // once
}

func newSMTPServer(t *testing.T, step, answer string) *smtpServer {
	t.Helper()
	s := &smtpServer{step: step, answer: answer}
	s.Server = mailbox.Listen(t, func(at string) (string, bool) {
		return s.answer, at == s.step && s.failed.CompareAndSwap(false, true)
	})
	return s
}

func (s *smtpServer) mailer(t *testing.T) ports.Mailer {
	t.Helper()
	m, err := mail.New("smtp://"+s.Address, "no-reply@deposits.example", slog.New(slog.DiscardHandler))
	require.NoError(t, err)
	return m
}

func enqueueLink(kit *servicetest.Kit) ports.Mail {
	m := ports.Mail{
		ID: servicetest.NewID(), To: "jeanne@example.com", Subject: "Your rental deposit",
		Body: "https://d.example/checkout/token\n", HTML: "<p>x</p>",
		CreatedAt: time.Now(), LinkOf: servicetest.NewID(),
	}
	kit.RunInTransaction(func(ctx context.Context, r *postgres.Store) error { return r.Mails.Enqueue(ctx, m) })
	return m
}

// makeDue ends the lease or the wait of every mail.
func makeDue(t *testing.T, kit *servicetest.Kit) {
	t.Helper()
	_, err := kit.Pool.Exec(t.Context(), `UPDATE mails SET due_at = now() WHERE sent_at IS NULL AND failed_at IS NULL`)
	require.NoError(t, err)
}

func TestMails_RefusedOrCutAtAnyStep_AreTakenExactlyOnce(t *testing.T) {
	t.Parallel()
	kit := servicetest.New(t)
	for _, step := range []string{"", mailbox.StepGreeting, "EHLO", "NOOP", "MAIL", "RCPT", "DATA", mailbox.StepMailReceived,
		mailbox.StepMailAccepted, "RSET", "QUIT"} {
		for _, answer := range []string{"", "421 later", "451 later", "550 never"} {
			s, m, counted := newSMTPServer(t, step, answer), enqueueLink(kit), &tally{}
			job := mails.MailSendingJob(kit.Postgres.Mails, s.mailer(t), counted, time.Second)
			failed := int32(0)
			for range 4 {
				_, err := job.Run(t.Context())
				if err != nil {
					failed++
					require.NotContains(t, err.Error(), "checkout/token")
				}
				makeDue(t, kit)
			}
			require.Equal(t, []string{id.Mail.Of(m.ID) + "@deposits.example"}, s.AcceptedMessageIDs(), "%s %q", step, answer)
			require.Equal(t, 1, kit.Count("mails", "id = $1 AND sent_at IS NOT NULL AND failed_at IS NULL", m.ID), "%s %q", step,
				answer)
			require.Equal(t, int32(1), counted.sent.Load(), "%s %q", step, answer)
			require.Equal(t, failed, counted.failed.Load(), "%s %q", step, answer)
		}
	}
}

func TestMails_KilledBeforeTheRecord_AreTakenTwiceWithOneMessageID(t *testing.T) {
	t.Parallel()
	kit := servicetest.New(t)
	s, m := newSMTPServer(t, "", ""), enqueueLink(kit)
	binary, err := os.Executable()
	require.NoError(t, err)
	process := exec.CommandContext(t.Context(), binary)
	process.Env = append(os.Environ(), victimDatabase+"="+kit.Pool.Config().ConnString(), victimSMTP+"=smtp://"+s.Address)
	err = process.Run()
	var ended *exec.ExitError
	require.ErrorAs(t, err, &ended)
	require.Equal(t, syscall.SIGKILL, ended.Sys().(syscall.WaitStatus).Signal())
	require.Len(t, s.AcceptedMessageIDs(), 1)
	require.Equal(t, 1, kit.Count("mails", "id = $1 AND sent_at IS NULL AND attempts = 1", m.ID))

	job := mails.MailSendingJob(kit.Postgres.Mails, s.mailer(t), &tally{}, time.Second)
	_, err = job.Run(t.Context())
	require.NoError(t, err)
	require.Len(t, s.AcceptedMessageIDs(), 1, "while the lease lasts the mail is left alone")
	for range 3 {
		makeDue(t, kit)
		_, err = job.Run(t.Context())
		require.NoError(t, err)
	}
	messageID := id.Mail.Of(m.ID) + "@deposits.example"
	require.Equal(t, []string{messageID, messageID}, s.AcceptedMessageIDs())
}

// flaky forgets to answer the first records, as a database that restarts does.
type flaky struct {
	ports.MailQueue
	mu   sync.Mutex
	left int
}

func (f *flaky) MarkSent(ctx context.Context, mailID id.ID) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	if f.left > 0 {
		f.left--
		return errors.New("the database restarts")
	}
	return f.MailQueue.MarkSent(ctx, mailID)
}

func TestMails_RecordThatFails_IsTriedAgain_AlsoWhileStopping(t *testing.T) {
	t.Parallel()
	kit := servicetest.New(t)
	s, m := newSMTPServer(t, "", ""), enqueueLink(kit)
	ctx, stop := context.WithCancel(t.Context())
	stopping, counted := stopAfterSending{s.mailer(t), stop}, &tally{}
	_, err := mails.MailSendingJob(&flaky{MailQueue: kit.Postgres.Mails, left: 3}, stopping, counted, time.Second).Run(ctx)
	require.NoError(t, err)
	require.Len(t, s.AcceptedMessageIDs(), 1)
	require.Equal(t, int32(1), counted.sent.Load(), "a record that is tried again is no attempt")
	require.Equal(t, 1, kit.Count("mails", "id = $1 AND sent_at IS NOT NULL", m.ID))
}

// stopAfterSending tells the process to stop as soon as a mail is under way.
type stopAfterSending struct {
	ports.Mailer
	stop context.CancelFunc
}

func (s stopAfterSending) Send(ctx context.Context, m ports.Mail) error {
	s.stop()
	return s.Mailer.Send(ctx, m)
}

// postman accepts every mail except those to bad@example.com.
type postman struct {
	mu   sync.Mutex
	took []string
}

func (p *postman) Send(_ context.Context, m ports.Mail) error {
	if m.To == "bad@example.com" {
		return errors.New("550 no such user")
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	p.took = append(p.took, m.Subject)
	return nil
}

// tally counts attempts to send a mail.
type tally struct{ sent, failed atomic.Int32 }

func (t *tally) CountAttempt(sent bool) {
	if sent {
		t.sent.Add(1)
	} else {
		t.failed.Add(1)
	}
}

func TestMails_OneThatCannotBeSentHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	kit := servicetest.New(t)
	store, now := kit.Postgres, time.Now()
	for i, to := range []string{"a@example.com", "bad@example.com", "c@example.com"} {
		require.NoError(t, store.WithinTx(t.Context(), func(ctx context.Context) error {
			return store.Mails.Enqueue(ctx, ports.Mail{ID: id.ID{byte(i + 1)}, To: to, Subject: "to " + to, Body: "b",
				CreatedAt: now.Add(time.Duration(i) * time.Millisecond)})
		}))
	}
	post, counted := &postman{}, &tally{}
	job := mails.MailSendingJob(store.Mails, post, counted, time.Second)
	more, err := job.Run(t.Context())
	require.False(t, more)
	require.ErrorContains(t, err, "550 no such user")
	require.ElementsMatch(t, []string{"to a@example.com", "to c@example.com"}, post.took)

	more, err = job.Run(t.Context())
	require.NoError(t, err, "the bad one waits for its time")
	require.False(t, more)
	require.Len(t, post.took, 2, "what was sent is not sent again")
	require.Equal(t, int32(2), counted.sent.Load())
	require.Equal(t, int32(1), counted.failed.Load(), "a mail that waits for its time is no attempt")
	makeDue(t, kit)
	_, err = job.Run(t.Context())
	require.Error(t, err)
	require.Equal(t, int32(2), counted.sent.Load())
	require.Equal(t, int32(2), counted.failed.Load(), "each attempt counts")
	require.Equal(t, 2, kit.Count("mails", "sent_at IS NOT NULL"))
	require.Zero(t, kit.Count("mails", "failed_at IS NOT NULL"), "it is tried again")
}
