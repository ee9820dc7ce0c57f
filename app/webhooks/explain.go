package webhooks

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"maps"
	"strings"
	"time"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
)

// Question asks why a delivery does not verify.
type Question struct {
	Headers  map[string]string
	Body     string      // base64
	Computed string      // by the receiver; "" when it does not tell
	APIKey   secret.Text // of the request
}

// Explain tells why a delivery of a subscription does not verify at its receiver. It changes nothing.
//
// Returns webhook_not_found or invalid_field.
func (s *Service) Explain(ctx context.Context, by partner.Caller, subscriptionID id.ID,
	q Question) (webhook.Explanation, error) {
	now := s.deps.Clock.Now()
	if _, err := s.deps.Subscriptions.Subscription(ctx, by.Partner.ID, subscriptionID); err != nil {
		return webhook.Explanation{}, err
	}
	received, err := q.received()
	if err != nil {
		return webhook.Explanation{}, err
	}
	keys, err := s.keys(ctx, by.Partner.ID, subscriptionID)
	if err != nil {
		return webhook.Explanation{}, err
	}
	keys.API = q.APIKey
	sent, err := s.candidates(ctx, subscriptionID, received, now)
	if err != nil {
		return webhook.Explanation{}, err
	}
	return webhook.Explain(received, keys, sent, now), nil
}

func (q Question) received() (webhook.Received, error) {
	body, err := base64.StdEncoding.DecodeString(q.Body)
	if err != nil {
		return webhook.Received{}, fault.ErrInvalidField.WithField("body", "is not base64")
	}
	headers := webhook.Headers{}
	for name, value := range q.Headers {
		name = strings.ReplaceAll(strings.TrimPrefix(strings.ToUpper(name), "HTTP_"), "_", "-") // as PHP and CGI name them
		headers[name] = append(headers[name], value)
	}
	return webhook.Received{Headers: headers, Body: body, Computed: q.Computed}, nil
}

// keys reads the secrets that may have been used: those that the partner has now.
func (s *Service) keys(ctx context.Context, partnerID, subscriptionID id.ID) (keys webhook.Keys, err error) {
	if keys.Others, err = s.deps.Signing.SigningSecrets(ctx, partnerID); err != nil {
		return keys, err
	}
	keys.Others = maps.Clone(keys.Others)
	keys.Own = keys.Others[subscriptionID]
	delete(keys.Others, subscriptionID)
	keys.Connect, err = s.deps.Connect.ConnectSecret(ctx, partnerID)
	return keys, err
}

// Bounds of the search for the delivery that was received. A first attempt begins within moments of its event, and a
// clock of ours may be a little behind another. A retry is found by the deposit or the time in its body.
const (
	searchBefore = 10 * time.Minute
	searchAfter  = 2 * time.Second
	searchLimit  = 500
	searchKept   = 40 * 24 * time.Hour // deliveries are removed earlier (operations.md, "Retention")
)

// candidates gives the deliveries that may be the received one.
func (s *Service) candidates(ctx context.Context, subscriptionID id.ID, r webhook.Received,
	now time.Time) ([]webhook.Sent, error) {
	var told struct {
		CreatedAt time.Time
		Data      struct{ ID string }
	}
	_ = json.Unmarshal(r.Body, &told) // a body that was changed beyond reading tells nothing
	var sent []webhook.Sent
	for _, at := range append(r.SignedAt(), told.CreatedAt) {
		if now.Sub(at).Abs() > searchKept {
			continue
		}
		made := ports.Span{From: at.Add(-searchBefore), To: at.Add(searchAfter)}
		found, err := s.deps.Deliveries.DeliveriesMade(ctx, subscriptionID, made, searchLimit)
		if err != nil {
			return nil, err
		}
		sent = append(sent, found...)
	}
	for _, prefix := range []id.Prefix{id.Deposit, TestDepositPrefix} {
		if depositID, ok := prefix.Parse(told.Data.ID); ok {
			found, err := s.deps.Deliveries.DeliveriesAbout(ctx, subscriptionID, depositID, searchLimit)
			return append(sent, found...), err
		}
	}
	return sent, nil
}
