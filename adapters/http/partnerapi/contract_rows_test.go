package partnerapi_test

import "partnerdeposits/core/partner"

// allRows holds the rows of every operation of openapi.yaml, by operationId. A new operation needs rows here: at least
// a good request, and a request for each code that only its own rules give.
var allRows = []map[string]rows{keyRows, accountRows, webhookRows, eventRows, clientRows, depositRows}

// cases are refused requests by their codes.
type cases = map[string]func(*stage) sent

// Requests of stages. Each gives ids of the caller's own objects.

func (s *stage) depositID() string { return s.created(s.account) }

func (s *stage) activeID() string {
	d := s.depositID()
	s.simulated(d, "activate")
	return d
}

func (s *stage) hookID(events ...string) string { return s.hook(events...)[len("/webhooks/"):] }

func (s *stage) disabledHookID() string {
	hook := s.hookID()
	s.disable(hook)
	return hook
}

func (s *stage) disable(hook string) {
	s.do("PATCH", "/webhooks/"+hook, object{"enabled": false}).ok(200)
}

func (s *stage) deliveryOf(hook string) string {
	return text(s.t, s.post("/webhooks/"+hook+"/test", nil).ok(200), "id")
}

func (s *stage) clientID() string { return s.client(s.account, "a@b.example") }

// anotherKey makes another API key of the partner.
func (s *stage) anotherKey() string {
	return text(s.t, s.post("/api-keys", object{"name": "another"}).ok(201), "id")
}

// twice prepares two items of a list.
func twice(s *stage, prepare func()) sent {
	prepare()
	prepare()
	return sent{}
}

// of makes a request from ids of the path.
func of(ids ...string) sent { return sent{ids: ids} }

// onRevoked prepares a request whose account is revoked after it is made.
func onRevoked(prepare func(*stage) sent) func(*stage) sent {
	return func(s *stage) sent {
		q := prepare(s)
		s.revoke(s.account)
		return q
	}
}

func ofDeposit(s *stage) sent { return of(s.depositID()) }
func ofActive(s *stage) sent  { return of(s.activeID()) }
func ofHook(s *stage) sent    { return of(s.hookID()) }
func ofClient(s *stage) sent  { return of(s.clientID()) }
func plain(*stage) sent       { return sent{} }

var keyRows = map[string]rows{
	"createApiKey": {good: plain, refused: cases{
		"api_key_limit_reached": func(s *stage) sent {
			for range partner.MaxAPIKeys - 1 {
				s.anotherKey()
			}
			return sent{}
		},
	}},
	"listApiKeys":  {good: func(s *stage) sent { s.anotherKey(); return sent{} }},
	"deleteApiKey": {good: func(s *stage) sent { return of(s.anotherKey()) }},
}

var accountRows = map[string]rows{
	"getMe":         {good: plain},
	"listAccounts":  {good: func(s *stage) sent { s.link("hotel-2"); return sent{} }},
	"getAccount":    {good: func(s *stage) sent { return of(s.account) }},
	"deleteAccount": {good: func(s *stage) sent { return of(s.account) }},
}

var webhookRows = map[string]rows{
	"createWebhook": {good: plain, refused: cases{
		"webhook_limit_reached": func(s *stage) sent {
			for range 16 {
				s.hook()
			}
			return sent{}
		},
	}},
	"listWebhooks":        {good: func(s *stage) sent { return twice(s, func() { s.hook() }) }},
	"getWebhook":          {good: ofHook},
	"updateWebhook":       {good: ofHook},
	"deleteWebhook":       {good: ofHook},
	"rotateWebhookSecret": {good: ofHook},
	"explainWebhook":      {good: ofHook},
	"explainConnectUrl":   {good: plain},
	"testWebhook": {good: ofHook, refused: cases{
		"test_event_not_subscribed": func(s *stage) sent {
			return of(s.hookID("deposit.captured", "rental_operator.linked"))
		},
		"webhook_disabled": func(s *stage) sent { return of(s.disabledHookID()) },
	}},
	"listWebhookDeliveries": {good: func(s *stage) sent {
		hook := s.hookID()
		twice(s, func() { s.deliveryOf(hook) })
		return of(hook)
	}},
	"getWebhookDelivery": {good: func(s *stage) sent {
		hook := s.hookID()
		return of(hook, s.deliveryOf(hook))
	}},
	"redeliverWebhookDelivery": {
		good: func(s *stage) sent {
			hook := s.hookID()
			return of(hook, s.deliveryOf(hook))
		},
		refused: cases{"webhook_disabled": func(s *stage) sent {
			hook := s.hookID()
			delivery := s.deliveryOf(hook)
			s.disable(hook)
			return of(hook, delivery)
		}},
	},
	"replayWebhookDeliveries": {good: ofHook, refused: cases{
		"invalid_date_range": func(s *stage) sent {
			return ofHook(s).with(object{"from": "2026-06-02T00:00:00Z", "to": "2026-06-01T00:00:00Z"})
		},
		"webhook_disabled": func(s *stage) sent { return of(s.disabledHookID()) },
		"replay_limit_reached": func(s *stage) sent {
			hook := s.hookID()
			for range 8 {
				s.post("/webhooks/"+hook+"/replay", object{"from": "2026-06-01T00:00:00Z", "to": "2026-06-02T00:00:00Z"}).ok(202)
			}
			return of(hook)
		},
	}},
}

var eventRows = map[string]rows{
	"listEvents": {good: func(s *stage) sent {
		twice(s, func() { s.activeID() })
		s.relayAll()
		return sent{}
	}},
	"getEvent": {good: func(s *stage) sent {
		s.activeID()
		return of(s.eventID())
	}},
	"readFeed": {
		good: func(s *stage) sent {
			s.activeID()
			s.relayAll()
			s.renumber(1042) // the number behind that of the example
			return sent{}
		},
		refused: cases{"invalid_cursor": func(*stage) sent { return sent{query: "after=1000000"} }},
	},
}

var clientRows = map[string]rows{
	"createClient": {good: plain, refused: cases{"account_revoked": onRevoked(plain)}},
	"listClients": {
		good: func(s *stage) sent { return twice(s, func() { s.clientID() }) },
		refused: cases{"account_revoked": onRevoked(func(s *stage) sent {
			return sent{query: "accountId=" + s.account}
		})},
	},
	"updateClient": {good: ofClient, refused: cases{
		"missing_field":   func(s *stage) sent { return ofClient(s).with(object{"lastName": ""}) },
		"account_revoked": onRevoked(ofClient),
	}},
	"deleteClient": {good: ofClient},
	"getClient":    {good: ofClient, refused: cases{"account_revoked": onRevoked(ofClient)}},
}

// drafted prepares a request for a deposit with changes.
func drafted(changes ...any) func(*stage) sent {
	return func(s *stage) sent { return sent{}.with(draft(s.account, changes...)) }
}

var depositRows = map[string]rows{
	"createDeposit": {good: plain, refused: cases{
		"amount_below_minimum": drafted("amount", 69.99),
		"amount_above_maximum": drafted("amount", 2500.01),
		"invalid_date_range":   drafted("contractEndAt", "2020-01-01T00:00:00Z"),
		"invalid_return_url":   drafted("returnUrl", "ftp://x.example"),
		"account_revoked":      onRevoked(plain),
	}},
	"listDeposits":  {good: func(s *stage) sent { return twice(s, func() { s.depositID() }) }},
	"getDeposit":    {good: ofDeposit},
	"cancelDeposit": {good: ofDeposit, refused: cases{"deposit_not_cancellable": ofActive}},
	"sendDepositLink": {good: ofDeposit, refused: cases{
		"deposit_not_sendable": ofActive, "account_revoked": onRevoked(ofDeposit),
	}},
	"sendDepositLinkBatch": {good: ofDeposit, refused: cases{
		"deposit_not_sendable": ofActive, "account_revoked": onRevoked(ofDeposit),
	}},
	"captureDeposit": {good: ofActive, refused: cases{
		"deposit_not_capturable": ofDeposit,
		"capture_below_minimum":  func(s *stage) sent { return ofActive(s).with(object{"amount": 0.49}) },
		"capture_exceeds_amount": func(s *stage) sent { return ofActive(s).with(object{"amount": 500.01}) },
		"account_revoked":        onRevoked(ofActive),
	}},
	"releaseDeposit": {good: ofActive, refused: cases{
		"deposit_not_releasable": ofDeposit, "account_revoked": onRevoked(ofActive),
	}},
	"simulateDeposit": {good: ofDeposit, refused: cases{
		"deposit_not_securable":   ofActive,
		"deposit_not_cancellable": func(s *stage) sent { return ofActive(s).with(object{"outcome": "abandon"}) },
		"deposit_not_releasable": func(s *stage) sent {
			deposit := s.activeID()
			s.simulated(deposit, "expire")
			return of(deposit).with(object{"outcome": "expire"})
		},
	}},
}
