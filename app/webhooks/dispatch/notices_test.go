//go:build !unit

package dispatch_test

import (
	"context"
	"net/http"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/system"
	"partnerdeposits/app/webhooks"
	"partnerdeposits/app/webhooks/dispatch"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
)

const (
	heldMail      = "Your webhook endpoint keeps failing"
	givenUpMail   = "Deliveries to your webhook were given up"
	recoveredMail = "Your webhook endpoint works again"
)

// mailed runs the job of two dispatchers at once, after a notice of a circuit has waited, and counts the mails by
// subject.
func (f *fixture) mailed() map[string]int {
	f.t.Helper()
	ctx := context.WithoutCancel(f.t.Context())
	f.exec(`UPDATE webhook_notices SET mail_at = now() WHERE kind = 'held' AND NOT put_off`) // half a minute passes
	job := webhooks.EndpointNoticeMailer{
		Notices: f.Postgres.Notices, Mails: f.Postgres.Mails, Endpoints: f.work, UnitOfWork: f.Postgres,
		Clock:   system.Clock{},
		Entropy: system.Entropy{}, APIBaseURL: "https://api.example",
	}.ScheduledJob(time.Second)
	var both sync.WaitGroup
	for range 2 {
		both.Go(func() {
			_, err := job.Run(ctx)
			if err != nil {
				f.t.Error(err)
			}
		})
	}
	both.Wait()
	counts := map[string]int{}
	for _, m := range f.ListMails("") {
		counts[m.Subject]++
	}
	return counts
}

func (f *fixture) exec(sql string, args ...any) {
	f.t.Helper()
	_, err := f.Pool.Exec(context.WithoutCancel(f.t.Context()), sql, args...)
	require.NoError(f.t, err)
}

// nearlyHeld leaves a failure between the endpoint and its open circuit.
func (f *fixture) nearlyHeld(sub id.ID) {
	f.exec(`UPDATE webhook_subscriptions SET failures = 30, failing_since = now() - interval '1 hour' WHERE id = $1`, sub)
}

// dayPasses makes every mail so far a day old.
func (f *fixture) dayPasses() {
	f.exec(`UPDATE webhook_notice_mails SET mailed_at = mailed_at - interval '1 day'`)
	f.exec(`UPDATE webhook_notices SET mail_at = mail_at - interval '1 day'`)
}

func TestNotices_TellOfTroubleAndRecovery_OnceADay(t *testing.T) {
	f := newFixture(t)
	var status atomic.Int32
	status.Store(http.StatusInternalServerError)
	r := newReceiver(t, func(received, int) int { return int(status.Load()) })
	sub := f.subscribe(r.URL + "/hook?key=partners-secret")
	f.run(func(_ *dispatch.Deps, c *dispatch.Config) {
		c.EndpointConcurrency, c.Schedule = 2, webhook.RetrySchedule{0, 20 * time.Millisecond, time.Hour}
	})
	hold := func() {
		status.Store(http.StatusInternalServerError)
		f.eventually("held", func() bool { // an attempt in between may have read the health from before
			f.nearlyHeld(sub)
			f.emit(webhook.EventDepositActivated, 1)
			return f.report(sub).State == webhook.EndpointHeld
		})
	}
	repair := func() {
		status.Store(http.StatusOK)
		retryNow := func() { f.exec(`UPDATE deliveries SET due_at = now() WHERE state = 0`) }
		retryNow()
		f.eventually("healthy", func() bool {
			f.emit(webhook.EventDepositActivated, 1)
			return f.report(sub).State == webhook.EndpointHealthy
		})
		// A success that is recorded later would count as the end of the next trouble.
		f.eventually("all deliveries end", func() bool {
			retryNow() // an attempt from before the repair may have failed since, and its retry would wait an hour
			return f.Count("outbox", "")+f.Count("deliveries", "state IN (0, 1)") == 0
		})
	}
	require.Empty(t, f.mailed())
	hold()
	require.Equal(t, map[string]int{heldMail: 1}, f.mailed())
	require.Equal(t, map[string]int{heldMail: 1}, f.mailed(), "once")
	repair()
	want := map[string]int{heldMail: 1, recoveredMail: 1}
	require.Equal(t, want, f.mailed())

	hold()
	repair()
	require.Equal(t, want, f.mailed(), "one of a kind a day")
	f.dayPasses()
	require.Equal(t, want, f.mailed(), "what is over the next day is not told")
	hold()
	want[heldMail]++
	require.Equal(t, want, f.mailed())

	body := f.ListMails("")[0].Body
	require.Contains(t, body, id.Subscription.Of(sub))
	require.Contains(t, body, r.URL+"/hook\n")
	require.Contains(t, body, "non_2xx")
	require.NotContains(t, body, "partners-secret")
}

func TestNotices_TellOfDeliveriesThatWereGivenUp_AndOfTheNextSuccess(t *testing.T) {
	f := newFixture(t)
	var status atomic.Int32
	status.Store(http.StatusGone)
	r := newReceiver(t, func(received, int) int { return int(status.Load()) })
	f.subscribe(r.URL)
	f.run(func(_ *dispatch.Deps, c *dispatch.Config) {
		c.Schedule = webhook.RetrySchedule{0, 10 * time.Millisecond}
	})
	f.emit(webhook.EventDepositActivated, 3)
	f.allIn(webhook.DeliveryStateFailed, 3)
	require.Equal(t, map[string]int{givenUpMail: 1}, f.mailed())
	require.Contains(t, f.ListMails("")[0].Body, "3 deliveries")
	f.emit(webhook.EventDepositActivated, 2)
	f.allIn(webhook.DeliveryStateFailed, 5)
	require.Equal(t, map[string]int{givenUpMail: 1}, f.mailed(), "one a day")
	f.dayPasses()
	require.Equal(t, map[string]int{givenUpMail: 2}, f.mailed(), "the two of yesterday are told the next day")
	require.Contains(t, f.ListMails("")[1].Body, "2 deliveries")
	status.Store(http.StatusOK)
	f.emit(webhook.EventDepositActivated, 1)
	f.eventually("a success", func() bool { return f.states()[webhook.DeliveryStateSucceeded] == 1 })
	require.Equal(t, map[string]int{givenUpMail: 2, recoveredMail: 1}, f.mailed())
	f.emit(webhook.EventDepositActivated, 5)
	f.eventually("more", func() bool { return f.states()[webhook.DeliveryStateSucceeded] == 6 })
	require.Equal(t, map[string]int{givenUpMail: 2, recoveredMail: 1}, f.mailed())
}

// The success that follows a notice of an earlier trouble is told, though the endpoint was healthy already.
func TestNotices_AnEnabledSubscription_TellsOfItsFirstSuccess(t *testing.T) {
	f := newFixture(t)
	r := newReceiver(t, nil)
	sub := f.subscribe(r.URL)
	f.exec(`UPDATE webhook_subscriptions SET trouble = true WHERE id = $1`, sub)
	f.exec(`INSERT INTO webhook_notice_mails VALUES ($1, 'disabled', now() - interval '1 hour')`, sub)
	f.run()
	f.emit(webhook.EventDepositActivated, 1)
	f.allIn(webhook.DeliveryStateSucceeded, 1)
	require.Equal(t, map[string]int{recoveredMail: 1}, f.mailed())
}

func TestNotices_WithoutAContact_OrAboutADeletedSubscription_AreDropped(t *testing.T) {
	f := newFixture(t)
	sub := f.subscribe("https://r.example")
	for _, set := range []string{`UPDATE partners SET contact_email = ''`,
		`UPDATE webhook_subscriptions SET deleted_at = now()`} {
		f.exec(`INSERT INTO webhook_notices (subscription_id, kind, at) VALUES ($1, 'held', now())`, sub)
		f.exec(set)
		require.Empty(t, f.mailed())
		require.Zero(t, f.Count("webhook_notices", ""))
		f.exec(`UPDATE partners SET contact_email = 'ops@demo.example'`)
	}
}

// While the table of mails is locked, outcomes are recorded.
func TestNotices_MailsThatCannotBeWritten_DelayNoRecord(t *testing.T) {
	f := newFixture(t)
	r := newReceiver(t, func(received, int) int { return http.StatusInternalServerError })
	sub := f.subscribe(r.URL)
	f.nearlyHeld(sub)
	tx, err := f.Pool.Begin(t.Context())
	require.NoError(t, err)
	_, err = tx.Exec(t.Context(), `LOCK TABLE mails IN ACCESS EXCLUSIVE MODE`)
	require.NoError(t, err)
	f.run(func(_ *dispatch.Deps, c *dispatch.Config) { c.Schedule = webhook.RetrySchedule{0} })
	f.emit(webhook.EventDepositActivated, 1)
	f.allIn(webhook.DeliveryStateFailed, 1)
	require.NoError(t, tx.Rollback(t.Context()))
	require.Equal(t, map[string]int{heldMail: 1, givenUpMail: 1}, f.mailed())
}
