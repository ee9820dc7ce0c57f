package partnerapi_test

import "partnerdeposits/core/partner"

// allRows holds the rows of every operation of openapi.yaml, by operationId. A new operation needs rows here: at least
// a good request, and a request for each code that only its own rules give.
var allRows = []map[string]rows{keyRows, accountRows, webhookRows, eventRows, clientRows, depositRows}

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
	s.do("PATCH", "/webhooks/"+hook, object{"enabled": false}).ok(200)
	return hook
}

func (s *stage) deliveryOf(hook string) string {
	return text(s.t, s.post("/webhooks/"+hook+"/test", nil).ok(200), "id")
}

func (s *stage) person(account string) object {
	return object{"accountId": account, "email": "a@b.example", "firstName": "A", "lastName": "B"}
}

func (s *stage) clientID() string {
	return text(s.t, s.post("/clients", s.person(s.account)).ok(201), "id")
}

func (s *stage) revokedAccount() string {
	s.revoke(s.account)
	return s.account
}

// of makes a request from ids of the path.
func of(ids ...string) sent { return sent{ids: ids} }

func (q sent) with(body object) sent { q.body = body; return q }

// anotherKey makes another API key of the partner.
func (s *stage) anotherKey() string {
	return text(s.t, s.post("/api-keys", object{"name": "another"}).ok(201), "id")
}

var keyRows = map[string]rows{
	"createApiKey": {
		good: func(*stage) sent { return of().with(object{"name": "new"}) },
		refused: map[string]func(*stage) sent{"api_key_limit_reached": func(s *stage) sent {
			for range partner.MaxAPIKeys - 1 {
				s.anotherKey()
			}
			return of().with(object{"name": "new"})
		}},
	},
	"listApiKeys": {good: func(s *stage) sent {
		s.anotherKey()
		return sent{}
	}},
	"deleteApiKey": {good: func(s *stage) sent { return of(s.anotherKey()) }},
}

var accountRows = map[string]rows{
	"getMe": {good: func(*stage) sent { return sent{} }},
	"listAccounts": {good: func(s *stage) sent {
		s.link("hotel-2")
		return sent{}
	}},
	"getAccount":    {good: func(s *stage) sent { return of(s.account) }},
	"deleteAccount": {good: func(s *stage) sent { return of(s.account) }},
}

var webhookRows = map[string]rows{
	"createWebhook": {
		good: func(*stage) sent { return of().with(object{"url": hookURL}) },
		refused: map[string]func(*stage) sent{"webhook_limit_reached": func(s *stage) sent {
			for range 16 {
				s.hook()
			}
			return of().with(object{"url": hookURL})
		}},
	},
	"listWebhooks": {good: func(s *stage) sent {
		s.hook()
		s.hook()
		return sent{}
	}},
	"getWebhook":          {good: func(s *stage) sent { return of(s.hookID()) }},
	"updateWebhook":       {good: func(s *stage) sent { return of(s.hookID()).with(object{"enabled": false}) }},
	"deleteWebhook":       {good: func(s *stage) sent { return of(s.hookID()) }},
	"rotateWebhookSecret": {good: func(s *stage) sent { return of(s.hookID()) }},
	"explainWebhook": {
		good: func(s *stage) sent { return of(s.hookID()).with(object{"headers": object{}, "body": ""}) },
	},
	"explainConnectUrl": {good: func(*stage) sent { return of().with(object{"url": dashboardBase + "/register?sig=x"}) }},
	"testWebhook": {
		good: func(s *stage) sent { return of(s.hookID()) },
		refused: map[string]func(*stage) sent{
			"test_event_not_subscribed": func(s *stage) sent { return of(s.hookID("deposit.captured")) },
			"webhook_disabled":          func(s *stage) sent { return of(s.disabledHookID()) },
		},
	},
	"listWebhookDeliveries": {good: func(s *stage) sent {
		hook := s.hookID()
		s.deliveryOf(hook)
		s.deliveryOf(hook)
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
		refused: map[string]func(*stage) sent{"webhook_disabled": func(s *stage) sent {
			hook := s.hookID()
			delivery := s.deliveryOf(hook)
			s.do("PATCH", "/webhooks/"+hook, object{"enabled": false}).ok(200)
			return of(hook, delivery)
		}},
	},
	"replayWebhookDeliveries": {
		good: func(s *stage) sent {
			return of(s.hookID()).with(object{"from": "2026-06-01T00:00:00Z", "to": "2026-06-02T00:00:00Z"})
		},
		refused: map[string]func(*stage) sent{
			"invalid_date_range": func(s *stage) sent {
				return of(s.hookID()).with(object{"from": "2026-06-02T00:00:00Z", "to": "2026-06-01T00:00:00Z"})
			},
			"webhook_disabled": func(s *stage) sent {
				return of(s.disabledHookID()).with(object{"from": "2026-06-01T00:00:00Z", "to": "2026-06-02T00:00:00Z"})
			},
		},
	},
}

var eventRows = map[string]rows{
	"listEvents": {good: func(s *stage) sent {
		s.activeID()
		s.activeID()
		s.relayAll()
		return sent{}
	}},
	"getEvent": {good: func(s *stage) sent {
		s.activeID()
		return of(s.eventID())
	}},
	"readFeed": {
		good: func(s *stage) sent {
			s.relayAll()
			return sent{}
		},
		refused: map[string]func(*stage) sent{"invalid_cursor": func(*stage) sent { return sent{query: "after=1000000"} }},
	},
}

var clientRows = map[string]rows{
	"createClient": {
		good: func(s *stage) sent { return of().with(s.person(s.account)) },
		refused: map[string]func(*stage) sent{
			"account_not_linked": func(s *stage) sent { return of().with(s.person(s.other.ids["acct"])) },
			"account_revoked":    func(s *stage) sent { return of().with(s.person(s.revokedAccount())) },
		},
	},
	"listClients": {
		good: func(s *stage) sent {
			s.clientID()
			s.clientID()
			return sent{}
		},
		refused: map[string]func(*stage) sent{
			"account_revoked": func(s *stage) sent { return sent{query: "accountId=" + s.revokedAccount()} }},
	},
	"updateClient": {
		good: func(s *stage) sent { return of(s.clientID()).with(object{"lastName": "C", "phone": nil}) },
		refused: map[string]func(*stage) sent{
			"missing_field": func(s *stage) sent { return of(s.clientID()).with(object{"lastName": ""}) },
			"account_revoked": func(s *stage) sent {
				client := s.clientID()
				s.revokedAccount()
				return of(client).with(object{"lastName": "C"})
			},
		},
	},
	"deleteClient": {good: func(s *stage) sent { return of(s.clientID()) }},
	"getClient": {
		good: func(s *stage) sent { return of(s.clientID()) },
		refused: map[string]func(*stage) sent{
			"account_revoked": func(s *stage) sent {
				client := s.clientID()
				s.revokedAccount()
				return of(client)
			},
		},
	},
}

var depositRows = map[string]rows{
	"createDeposit": {
		good: func(s *stage) sent { return of().with(draft(s.account)) },
		refused: map[string]func(*stage) sent{
			"amount_below_minimum": func(s *stage) sent { return of().with(draft(s.account, "amount", 69.99)) },
			"amount_above_maximum": func(s *stage) sent { return of().with(draft(s.account, "amount", 2500.01)) },
			"invalid_date_range": func(s *stage) sent {
				return of().with(draft(s.account, "contractEndAt", "2020-01-01T00:00:00Z"))
			},
			"invalid_return_url": func(s *stage) sent { return of().with(draft(s.account, "returnUrl", "ftp://x.example")) },
			"invalid_client":     func(s *stage) sent { return of().with(draft(s.account, "clientId", s.other.ids["cli"])) },
			"account_not_linked": func(s *stage) sent { return of().with(draft(s.other.ids["acct"])) },
			"account_revoked":    func(s *stage) sent { return of().with(draft(s.revokedAccount())) },
		},
	},
	"listDeposits": {good: func(s *stage) sent {
		s.depositID()
		s.depositID()
		return sent{}
	}},
	"getDeposit": {good: func(s *stage) sent { return of(s.depositID()) }},
	"cancelDeposit": {
		good:    func(s *stage) sent { return of(s.depositID()) },
		refused: map[string]func(*stage) sent{"deposit_not_cancellable": func(s *stage) sent { return of(s.activeID()) }},
	},
	"sendDepositLink": {
		good: func(s *stage) sent { return of(s.depositID()).with(object{"email": "ann@b.example"}) },
		refused: map[string]func(*stage) sent{
			"deposit_not_sendable": func(s *stage) sent { return of(s.activeID()).with(object{"email": "ann@b.example"}) },
			"account_revoked": func(s *stage) sent {
				deposit := s.depositID()
				s.revokedAccount()
				return of(deposit).with(object{"email": "ann@b.example"})
			},
		},
	},
	"sendDepositLinkBatch": {
		good: func(s *stage) sent {
			return of(s.depositID()).with(object{"recipients": []object{{"email": "ann@b.example"}}})
		},
		refused: map[string]func(*stage) sent{
			"deposit_not_sendable": func(s *stage) sent {
				return of(s.activeID()).with(object{"recipients": []object{{"email": "ann@b.example"}}})
			},
			"account_revoked": func(s *stage) sent {
				deposit := s.depositID()
				s.revokedAccount()
				return of(deposit).with(object{"recipients": []object{{"email": "ann@b.example"}}})
			},
		},
	},
	"captureDeposit": {
		good: func(s *stage) sent { return of(s.activeID()) },
		refused: map[string]func(*stage) sent{
			"deposit_not_capturable": func(s *stage) sent { return of(s.depositID()) },
			"capture_below_minimum":  func(s *stage) sent { return of(s.activeID()).with(object{"amount": 0.49}) },
			"capture_exceeds_amount": func(s *stage) sent { return of(s.activeID()).with(object{"amount": 500.01}) },
			"account_revoked": func(s *stage) sent {
				deposit := s.activeID()
				s.revokedAccount()
				return of(deposit)
			},
		},
	},
	"releaseDeposit": {
		good: func(s *stage) sent { return of(s.activeID()) },
		refused: map[string]func(*stage) sent{
			"deposit_not_releasable": func(s *stage) sent { return of(s.depositID()) },
			"account_revoked": func(s *stage) sent {
				deposit := s.activeID()
				s.revokedAccount()
				return of(deposit)
			},
		},
	},
	"simulateDeposit": {
		good: func(s *stage) sent { return of(s.depositID()).with(object{"outcome": "activate"}) },
		refused: map[string]func(*stage) sent{
			"deposit_not_securable":   func(s *stage) sent { return of(s.activeID()).with(object{"outcome": "activate"}) },
			"deposit_not_cancellable": func(s *stage) sent { return of(s.activeID()).with(object{"outcome": "abandon"}) },
			"deposit_not_releasable": func(s *stage) sent {
				deposit := s.activeID()
				s.simulated(deposit, "expire")
				return of(deposit).with(object{"outcome": "expire"})
			},
		},
	},
}
