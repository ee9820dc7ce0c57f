package mails_test

import (
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/app/platform/mails"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

func TestEndpointNotice_NamesTheEndpointWithoutItsQuery(t *testing.T) {
	m := mails.EndpointNotice{APIBaseURL: "https://api.example", NoticeSubject: webhookports.NoticeSubject{
		Notice: webhook.Notice{SubscriptionID: id.ID{2}, Kind: webhook.NoticeHeld, At: now.Add(-time.Hour)},
		URL:    "https://pms.example/hook/a%20b?token=s3cret", Contact: "dev@acme.example",
		Report: webhook.Report{LastError: webhook.ResultTimeout, LastFailureAt: now.Add(-time.Minute)},
	}}
	require.Empty(t, cmp.Diff(ports.Mail{
		ID: id.ID{1}, To: "dev@acme.example", CreatedAt: now,
		Subject: "Your webhook endpoint keeps failing",
		Body: `Hello,

your endpoint keeps failing, so its deliveries wait. Single deliveries probe it.

  Webhook:    ` + id.Subscription.Of(id.ID{2}) + `
  Endpoint:   https://pms.example/hook/a%20b
  Since:      2026-11-21 09:00 UTC
  Last error: timeout, on 2026-11-21 09:59 UTC

Repair the endpoint: the deliveries then go out by themselves. After five days of nothing but failures the webhook is disabled.

The health of the webhook, and what your endpoint answered: https://api.example/docs
`,
	}, m.Mail(id.ID{1}, now)))
}

func TestEndpointNotice_TellsEachKindApart(t *testing.T) {
	subjects := map[string]bool{}
	for kind, words := range map[webhook.NoticeKind]string{
		webhook.NoticeHeld:      "deliveries wait",
		webhook.NoticeGivenUp:   "3 deliveries to your endpoint have failed at the last attempt",
		webhook.NoticeDisabled:  "for five days every delivery to your endpoint has failed",
		webhook.NoticeRecovered: "takes deliveries again",
	} {
		mail := mails.EndpointNotice{
			NoticeSubject: webhookports.NoticeSubject{Notice: webhook.Notice{Kind: kind, Deliveries: 3}}}.Mail(id.ID{1}, now)
		require.Contains(t, mail.Body, words)
		require.NotContains(t, mail.Body, "Last error")
		subjects[mail.Subject] = true
	}
	require.Len(t, subjects, len(webhook.NoticeKinds))
	one := mails.EndpointNotice{
		NoticeSubject: webhookports.NoticeSubject{Notice: webhook.Notice{Kind: webhook.NoticeGivenUp, Deliveries: 1}}}
	require.Contains(t, one.Mail(id.ID{1}, now).Body, "1 delivery to your endpoint has failed")
}
