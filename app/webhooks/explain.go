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

// SignatureExplanationRequest is a partner's question why a delivery does not verify: what the receiver got and
// computed.
type SignatureExplanationRequest struct {
	Headers  map[string]string
	Body     string
	Computed string      // The signature that the receiver computed; "" when the partner does not send it.
	APIKey   secret.Text // The API key with which the question was sent.
}

// ExplainSignatureFailure finds out why a delivery of a subscription does not verify at its receiver. It changes
// nothing.
//
// Returns webhook_not_found or invalid_field.
func (s *Service) ExplainSignatureFailure(ctx context.Context, by partner.Caller, subscriptionID id.ID,
	q SignatureExplanationRequest) (webhook.SignatureExplanation, error) {
	now := s.deps.Clock.Now()
	if _, err := s.deps.Subscriptions.Subscription(ctx, by.Partner.ID, subscriptionID); err != nil {
		return webhook.SignatureExplanation{}, err
	}
	received, err := q.received()
	if err != nil {
		return webhook.SignatureExplanation{}, err
	}
	keys, err := s.keys(ctx, by.Partner.ID, subscriptionID)
	if err != nil {
		return webhook.SignatureExplanation{}, err
	}
	keys.API = q.APIKey
	sent, err := s.candidates(ctx, subscriptionID, received, now)
	if err != nil {
		return webhook.SignatureExplanation{}, err
	}
	return webhook.ExplainSignature(received, keys, sent, now), nil
}

func (q SignatureExplanationRequest) received() (webhook.ReceivedDelivery, error) {
	body, err := base64.StdEncoding.DecodeString(q.Body)
	if err != nil {
		return webhook.ReceivedDelivery{}, fault.ErrInvalidField.WithField("body", "is not base64")
	}
	headers := webhook.ReceivedHeaders{}
	for name, value := range q.Headers {
		// PHP and CGI call a header X-Name HTTP_X_NAME, so the prefix is removed before names are compared.
		name = strings.ReplaceAll(strings.TrimPrefix(strings.ToUpper(name), "HTTP_"), "_", "-")
		headers[name] = append(headers[name], value)
	}
	return webhook.ReceivedDelivery{Headers: headers, Body: body, Computed: q.Computed}, nil
}

func (s *Service) keys(ctx context.Context, partnerID, subscriptionID id.ID) (keys webhook.CandidateSecrets,
	err error) {
	if keys.Others, err = s.deps.Signing.SigningSecrets(ctx, partnerID); err != nil {
		return keys, err
	}
	keys.Others = maps.Clone(keys.Others)
	keys.Own = keys.Others[subscriptionID]
	delete(keys.Others, subscriptionID)
	keys.Connect, err = s.deps.Connect.ConnectSecret(ctx, partnerID)
	return keys, err
}

// Bounds of the search for the delivery that a receiver got: a first attempt begins within moments of its event,
// and clocks may differ a little.
const (
	searchBefore = 10 * time.Minute
	searchAfter  = 2 * time.Second
	searchLimit  = 500
	searchKept   = 40 * 24 * time.Hour // Deliveries are removed before this age (operations.md, "Retention").
)

// candidates returns the deliveries that may be the received one: those made near the times in its headers and
// body, and those about its deposit.
func (s *Service) candidates(ctx context.Context, subscriptionID id.ID, r webhook.ReceivedDelivery,
	now time.Time) ([]webhook.SentDelivery, error) {
	var told struct {
		CreatedAt time.Time
		Data      struct{ ID string }
	}
	// The error is ignored: a body that cannot be parsed has neither a time nor a deposit to search for.
	_ = json.Unmarshal(r.Body, &told)
	var sent []webhook.SentDelivery
	for _, at := range append(r.PossibleSigningTimes(), told.CreatedAt) {
		if now.Sub(at).Abs() > searchKept {
			continue
		}
		made := ports.TimeSpan{From: at.Add(-searchBefore), To: at.Add(searchAfter)}
		found, err := s.deps.Deliveries.BodiesMadeDuring(ctx, subscriptionID, made, searchLimit)
		if err != nil {
			return nil, err
		}
		sent = append(sent, found...)
	}
	for _, prefix := range []id.Prefix{id.Deposit, TestDepositIDPrefix} {
		if depositID, ok := prefix.Parse(told.Data.ID); ok {
			found, err := s.deps.Deliveries.BodiesAboutDeposit(ctx, subscriptionID, depositID, searchLimit)
			return append(sent, found...), err
		}
	}
	return sent, nil
}
