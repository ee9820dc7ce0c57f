package main

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"time"

	"partnerdeposits/adapters/system"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
	"partnerdeposits/ports"
)

// testPartner is a partner with a linked account, an API key and endpoints.
type testPartner struct {
	name             string
	partner, account id.ID
	key              string
	share            int // of the load, in percent
}

// seed creates the partners. Their endpoints behave differently, so that every fault meets each behaviour.
func (w *world) seed(ctx context.Context) error {
	all := names(webhook.EventNames)
	plans := []struct {
		name      string
		share     int
		endpoints []struct {
			behaviours behaviours
			events     []string
		}
	}{
		{"steady", 55, []struct {
			behaviours behaviours
			events     []string
		}{{polite, all}}},
		{"double", 20, []struct {
			behaviours behaviours
			events     []string
		}{{moody, all}, {moody, []string{string(webhook.DepositStatusChanged)}}}},
		{"hostile", 15, []struct {
			behaviours behaviours
			events     []string
		}{{hostile, all}}},
		{"changing", 10, []struct {
			behaviours behaviours
			events     []string
		}{{moody, all}}},
	}
	w.load = newLoad(w)
	for _, plan := range plans {
		t, err := w.newPartner(ctx, plan.name)
		if err != nil {
			return err
		}
		t.share = plan.share
		w.partners = append(w.partners, t)
		for _, p := range plan.endpoints {
			if err := w.subscribe(ctx, w.receivers.add(t, p.behaviours, p.events)); err != nil {
				return err
			}
		}
	}
	return nil
}

func names(events []webhook.EventName) (out []string) {
	for _, e := range events {
		out = append(out, string(e))
	}
	return out
}

func (w *world) newPartner(ctx context.Context, name string) (*testPartner, error) {
	now, entropy := system.Clock{}.Now(), system.Entropy{}
	t := &testPartner{name: name, partner: entropy.NewID(), account: entropy.NewID()}
	operator := connect.Operator{ID: entropy.NewID(), Email: name + "@example.com", PasswordHash: "-", CreatedAt: now}
	apiKey, plain, hash := partner.NewAPIKey(entropy.NewID(), t.partner, partner.Development, "faults", entropy.Bytes(secret.Bytes), now)
	t.key = plain.Reveal()
	return t, w.store.WithinTx(ctx, func(ctx context.Context, r ports.Repositories) error {
		return errors.Join(
			r.Partners.Insert(ctx, partner.Partner{ID: t.partner, Slug: name, Name: name, CreatedAt: now}, ""),
			r.Partners.InsertKey(ctx, apiKey, hash),
			r.Operators.Insert(ctx, operator, connect.Account{ID: t.account, OperatorID: operator.ID, CompanyName: name, CreatedAt: now}),
			r.Links.Insert(ctx, connect.Link{ID: entropy.NewID(), PartnerID: t.partner, AccountID: t.account, ExternalID: name, LinkedAt: now}),
		)
	})
}

// subscribe creates the subscription of an endpoint before any process runs.
func (w *world) subscribe(ctx context.Context, e *endpoint) error {
	now, entropy := system.Clock{}.Now(), system.Entropy{}
	key := secret.FromRandom(webhook.SecretPrefix, entropy.Bytes(secret.Bytes))
	e.id, e.created = entropy.NewID(), now
	e.replace(key.Reveal(), time.Time{})
	events := make([]webhook.EventName, len(e.events))
	for i, name := range e.events {
		events[i] = webhook.EventName(name)
	}
	s := webhook.Subscription{ID: e.id, PartnerID: e.owner.partner, URL: w.receivers.urlOf(e), Events: events, Enabled: true, CreatedAt: now}
	if err := w.store.WithinTx(ctx, func(ctx context.Context, r ports.Repositories) error { return r.Subscriptions.Insert(ctx, s, key) }); err != nil {
		return fmt.Errorf("subscribe endpoint %d: %w", e.index, err)
	}
	return nil
}

// healthy lists the subscriptions whose endpoints cause no long waits.
func (w *world) healthy() (ids []id.ID) {
	for _, e := range w.receivers.all() {
		if e.owner.name == "steady" {
			ids = append(ids, e.id)
		}
	}
	return ids
}

// of gives the endpoints of a partner.
func (w *world) of(name string) (found []*endpoint) {
	for _, e := range w.receivers.all() {
		if e.owner.name == name {
			found = append(found, e)
		}
	}
	return slices.Clip(found)
}
