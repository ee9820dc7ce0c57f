// Package webhook holds the rules of webhooks: subscriptions, routing, signatures, the retry schedule, deliveries
// and attempts, the health of endpoints, and replays (service.md, "Events"; api.md §5).
package webhook

import (
	"errors"
	"fmt"
	"net/url"
	"slices"
	"strconv"
	"time"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/returnurl"
)

// Faults about subscriptions and deliveries.
var (
	ErrNotFound                 = fault.New(fault.NotFound, "webhook_not_found", "There is no such webhook.")
	ErrEventNotFound            = fault.New(fault.NotFound, "event_not_found", "There is no such event.")
	ErrDeliveryNotFound         = fault.New(fault.NotFound, "delivery_not_found", "There is no such delivery.")
	ErrSubscriptionLimitReached = fault.New(fault.Conflict, "webhook_limit_reached",
		"A partner can have 16 webhooks at most. Delete one first.")
	ErrDisabled          = fault.New(fault.Conflict, "webhook_disabled", "The webhook is disabled. Enable it first.")
	ErrTestNotSubscribed = fault.New(fault.Conflict, "test_event_not_subscribed",
		"Subscribe to deposit.activated or deposit.status_changed to receive the test event.")
)

// EventName is the name of an event (service.md, "Event names").
type EventName string

// The names of all events of which partners are notified by webhooks.
const (
	EventOperatorLinked       EventName = "rental_operator.linked"
	EventDepositStatusChanged EventName = "deposit.status_changed"
	EventDepositActivated     EventName = "deposit.activated"
	EventDepositCaptured      EventName = "deposit.captured"
	EventDepositExpired       EventName = "deposit.expired"
	EventDepositCancelled     EventName = "deposit.cancelled"
)

// EventNames lists every event, which a subscription without event names receives.
var EventNames = []EventName{EventOperatorLinked, EventDepositStatusChanged, EventDepositActivated,
	EventDepositCaptured,
	EventDepositExpired,
	EventDepositCancelled}

// MaxSubscriptions limits the webhook subscriptions of one partner (api.md §5).
const MaxSubscriptions = 16

// UnparkedDeliveriesPerSecond is how many parked deliveries become due each second after a subscription is enabled,
// so that the endpoint does not get its backlog at once.
const UnparkedDeliveriesPerSecond = 200

// SigningSecretPrefix begins every signing secret (service.md, "Webhook subscription").
const SigningSecretPrefix = "svc_whsec_"

// Subscription is a partner's wish to receive events at a URL.
type Subscription struct {
	ID             id.ID
	PartnerID      id.ID
	URL            string
	Events         []EventName
	Enabled        bool
	DisabledReason string // Why the subscription is disabled; "" while it is enabled.
	CreatedAt      time.Time
	// Whether deliveries also carry the headers of Standard Webhooks.
	Standard bool
}

// SignatureKinds returns the kinds of signature that deliveries of the subscription carry.
func (s Subscription) SignatureKinds() []SignatureKind {
	if s.Standard {
		return SignatureKinds
	}
	return SignatureKinds[:1]
}

// SignatureKind is a kind of signature that a delivery can carry.
type SignatureKind string

// The kinds of signature that a delivery can carry.
const (
	SignatureKindSvc      SignatureKind = "svc" // This service's own kind of signature, which every delivery carries.
	SignatureKindStandard SignatureKind = "standard"
)

// SignatureKinds lists every kind of signature that a delivery can carry.
var SignatureKinds = []SignatureKind{SignatureKindSvc, SignatureKindStandard}

// ParseSignatureKinds reports whether a request names the Standard Webhooks signature. nil (not sent) means this
// service's own only.
//
// Returns invalid_field for an unknown kind, and for a list without this service's own.
func ParseSignatureKinds(kinds []string) (standard bool, err error) {
	ours := kinds == nil
	for _, kind := range kinds {
		switch SignatureKind(kind) {
		case SignatureKindSvc:
			ours = true
		case SignatureKindStandard:
			standard = true
		default:
			return false, fault.ErrInvalidField.WithField("signatures", "has an unknown kind; known are %v", SignatureKinds)
		}
	}
	if !ours {
		return false, fault.ErrInvalidField.WithField("signatures", "must include svc, which cannot be left out")
	}
	return standard, nil
}

// The reasons for which a subscription is disabled.
const (
	DisabledByPartner = "disabled_by_partner"
	DisabledByFailure = "failing_for_five_days"
)

// DisabledReasons lists every reason for which a subscription is disabled.
var DisabledReasons = []string{DisabledByPartner, DisabledByFailure}

// ParseEventNames checks the event names in a request. nil (not sent) means every event; a repeated name counts
// once.
//
// Returns invalid_field for an empty list and for an unknown name.
func ParseEventNames(names []string) ([]EventName, error) {
	if names == nil {
		return slices.Clone(EventNames), nil
	}
	if len(names) == 0 {
		return nil, fault.ErrInvalidField.WithField("events", "must not be empty; leave it out to subscribe to all events")
	}
	events := make([]EventName, 0, len(names))
	for _, n := range names {
		e := EventName(n)
		if !slices.Contains(EventNames, e) {
			return nil, fault.ErrInvalidField.WithField("events", "has an unknown event name; known are %v", EventNames)
		}
		if !slices.Contains(events, e) {
			events = append(events, e)
		}
	}
	return events, nil
}

// TargetRules says which endpoint URLs are allowed.
type TargetRules struct {
	// WEBHOOK_ALLOW_INSECURE_TARGETS: whether http and every port are allowed.
	Insecure     bool
	BlockedPorts []uint16 // WEBHOOK_BLOCKED_PORTS: ports of services that do not speak HTTP.
}

// ParseTargetURL checks an endpoint's URL. The sender checks the host's address again at every connection.
//
// Returns invalid_field for a URL that returnurl.Parse or FindPortMistake refuses.
func ParseTargetURL(raw string, rules TargetRules) (*url.URL, error) {
	parsed := raw
	if u, err := url.Parse(raw); err == nil && u.Scheme == "http" && rules.Insecure {
		parsed = "https" + raw[len("http"):]
	}
	u, err := returnurl.Parse(parsed, false)
	if errors.Is(err, returnurl.ErrScheme) {
		return nil, fault.ErrInvalidField.WithField("url", "must be https")
	}
	if err != nil {
		return nil, fault.ErrInvalidField.WithField("url", "%s", err.Error())
	}
	if mistake := rules.FindPortMistake(u); mistake != "" {
		return nil, fault.ErrInvalidField.WithField("url", "%s", mistake)
	}
	return url.Parse(raw)
}

// FindPortMistake returns what is wrong with the port of an endpoint's URL, as a clause; "" if nothing is. Ports of
// other services are refused, since results of deliveries would reveal them.
func (r TargetRules) FindPortMistake(u *url.URL) string {
	if u.Port() == "" {
		return ""
	}
	port, err := strconv.ParseUint(u.Port(), 10, 16)
	if err != nil || port == 0 {
		return "has the port " + u.Port() + ", which is not between 1 and 65535"
	}
	if !r.Insecure && slices.Contains(r.BlockedPorts, uint16(port)) {
		return fmt.Sprintf("has the port %d, which is refused: it belongs to a service that does not take webhooks", port)
	}
	return ""
}
