package mails

import (
	"fmt"
	"net/url"
	"strings"
	"time"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

// EndpointNotice is the mail to a partner's contact about the health of a webhook endpoint.
type EndpointNotice struct {
	webhookports.NoticeMailData
	APIBaseURL string // The setting API_BASE_URL.
}

// Mail returns the mail about an endpoint in English, since the contact's language is unknown.
func (m EndpointNotice) Mail(mailID id.ID, now time.Time) ports.Mail {
	subject, news, advice := m.words()
	body := fmt.Sprintf("Hello,\n\n%s\n\n  Webhook:    %s\n  Endpoint:   %s\n  Since:      %s\n", news,
		id.Subscription.Of(m.Notice.SubscriptionID), withoutQuery(m.URL), minute(m.Notice.At))
	if m.Report.LastError != "" {
		body += fmt.Sprintf("  Last error: %s, on %s\n", m.Report.LastError, minute(m.Report.LastFailureAt))
	}
	body += fmt.Sprintf("\n%s\n\nThe health of the webhook, and what your endpoint answered: %s/docs\n", advice,
		strings.TrimSuffix(m.APIBaseURL, "/"))
	return ports.Mail{ID: mailID, To: m.Contact, CreatedAt: now, Subject: subject, Body: body}
}

// words returns subject, news and advice of the mail about an endpoint.
func (m EndpointNotice) words() (subject, news, advice string) {
	if m.Report.LastError == webhook.ResultSecretUnreadable && m.Notice.Kind != webhook.NoticeEndpointRecovered {
		return m.wordsOfSecret()
	}
	switch m.Notice.Kind {
	case webhook.NoticeEndpointHeld:
		return "Your webhook endpoint keeps failing",
			"your endpoint keeps failing, so its deliveries wait. Single deliveries probe it.",
			"Repair the endpoint: the deliveries then go out by themselves. After five days of nothing but failures the webhook is disabled."
	case webhook.NoticeDeliveryGivenUp:
		return "Deliveries to your webhook were given up",
			deliveries(m.Notice.Deliveries) + " failed at the last attempt and will not be tried again.",
			"Repair the endpoint, then send the failed deliveries again: POST /api/partner/v1/webhooks/{id}/replay."
	case webhook.NoticeSubscriptionDisabled:
		return "Your webhook was disabled",
			"for five days every delivery to your endpoint has failed, so we have disabled the webhook.",
			"Deliveries are kept and go out once you enable it again: PATCH /api/partner/v1/webhooks/{id} with {\"enabled\": true}. A delivery that waits for 30 days ends as failed."
	case webhook.NoticeEndpointRecovered:
	}
	return "Your webhook endpoint works again", "your endpoint takes deliveries again. Those that waited go out.",
		"Deliveries that were given up before stay failed until you send them again: POST /api/partner/v1/webhooks/{id}/replay."
}

// wordsOfSecret returns the texts of a mail about a secret that this service can no longer read.
func (m EndpointNotice) wordsOfSecret() (subject, news, advice string) {
	news = "we can no longer read the secret of your webhook, so we cannot sign its deliveries. "
	advice = "Take a new secret, and let your endpoint verify with it: POST /api/partner/v1/webhooks/{id}/rotate-secret. "
	switch m.Notice.Kind {
	case webhook.NoticeDeliveryGivenUp:
		news += deliveries(m.Notice.Deliveries) + " failed at the last attempt and will not be tried again."
		advice += "Then send the failed deliveries again: POST /api/partner/v1/webhooks/{id}/replay."
	case webhook.NoticeSubscriptionDisabled:
		news += "For five days none has gone out, so we have disabled the webhook."
		advice += "Then enable it again: PATCH /api/partner/v1/webhooks/{id} with {\"enabled\": true}. Deliveries are kept until then, for 30 days at most."
	case webhook.NoticeEndpointHeld, webhook.NoticeEndpointRecovered:
		news += "They wait."
		advice += "The deliveries then go out by themselves."
	}
	return "Your webhook needs a new secret", news, advice
}

func deliveries(n int) string {
	if n == 1 {
		return "1 delivery to your endpoint has"
	}
	return fmt.Sprintf("%d deliveries to your endpoint have", n)
}

// withoutQuery returns a URL without its query, which may contain a partner's secret.
func withoutQuery(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return ""
	}
	return (&url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path, RawPath: u.RawPath}).String()
}
