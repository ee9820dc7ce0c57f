package world

import (
	"context"
	"errors"

	"partnerdeposits/adapters/system"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
)

// Partner is a partner with a linked account and an API key.
type Partner struct {
	Name        string
	ID, Account id.ID
	Key         string
}

// CreatePartner stores a partner with a linked account and an API key; name is its slug.
func (d *Database) CreatePartner(ctx context.Context, name string) (Partner, error) {
	now, entropy := system.Clock{}.Now(), system.Entropy{}
	p := Partner{Name: name, ID: entropy.NewID(), Account: entropy.NewID()}
	operator := connect.Operator{ID: entropy.NewID(), Email: name + "@example.com", PasswordHash: "-", CreatedAt: now}
	key, plain, hash := partner.NewAPIKey(entropy.NewID(), p.ID, partner.EnvironmentDevelopment, "lab",
		entropy.Bytes(secret.MinRandomBytes), now)
	p.Key = plain.Reveal()
	return p, d.Store.WithinTx(ctx, func(ctx context.Context) error {
		return errors.Join(
			d.Store.Partners.Insert(ctx, partner.Partner{ID: p.ID, Slug: name, Name: name, CreatedAt: now}, ""),
			d.Store.Keys.InsertKey(ctx, key, hash),
			d.Store.Operators.Insert(ctx, operator,
				connect.Account{ID: p.Account, OperatorID: operator.ID, CompanyName: name, CreatedAt: now}),
			d.Store.Links.Insert(ctx, connect.Link{ID: entropy.NewID(), PartnerID: p.ID, AccountID: p.Account,
				ExternalID: name, LinkedAt: now}),
		)
	})
}

// CreateSubscription stores a partner's webhook subscription with its signing secret, and returns its id.
func (d *Database) CreateSubscription(ctx context.Context, p Partner, url string, events []webhook.EventName,
	key string) (
	subscription id.ID, err error) {
	s := webhook.Subscription{ID: system.Entropy{}.NewID(), PartnerID: p.ID, URL: url, Events: events, Enabled: true,
		CreatedAt: system.Clock{}.Now()}
	return s.ID, d.Store.WithinTx(ctx, func(ctx context.Context) error {
		return d.Store.Subscriptions.Insert(ctx, s, secret.Text(key))
	})
}
