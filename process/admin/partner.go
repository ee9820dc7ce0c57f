package admin

import (
	"errors"
	"slices"

	"partnerdeposits/app/partners"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/process/config"
	"partnerdeposits/process/wire"
)

type partnerCommands struct {
	Create    partnerCreate    `cmd:"" help:"Create a partner with a connect secret and a first API key. Both are shown this once."`
	List      partnerList      `cmd:"" help:"List all partners."`
	Show      partnerShow      `cmd:"" help:"Show one partner and its API keys."`
	RateLimit partnerRateLimit `cmd:"" name:"rate-limit" help:"Give a partner a rate limit of its own."`
	Update    partnerUpdate    `cmd:"" help:"Change a partner's name, contact or return origins."`
}

type partnerCreate struct {
	Slug         string   `required:"" help:"Its name in connect URLs: 2 to 40 of a-z, 0-9 and -."`
	Name         string   `required:"" help:"Its name as operators read it."`
	ContactEmail string   `help:"Who hears of disabled webhooks."`
	ReturnOrigin []string `help:"Origin that connect redirects to without asking. May be given several times." sep:"none"`
}

// Run creates a partner and prints its connect secret and first API key.
func (p partnerCreate) Run(c *call) error {
	return c.with(config.RequiredForSecrets, func(a *wire.AdminCommands, _ config.Config) error {
		made, err := a.Partners.Create(c.ctx,
			partners.NewPartner{Slug: p.Slug, Name: p.Name, ContactEmail: p.ContactEmail, ReturnOrigins: p.ReturnOrigin})
		if err != nil {
			return err
		}
		return c.answer(fields{
			{"partnerId", id.Partner.Of(made.Partner.ID)},
			{"slug", made.Partner.Slug},
			{"connectSecret", made.ConnectSecret.Reveal()},
			{"apiKey", made.APIKey.Reveal()},
		})
	})
}

type partnerList struct{}

func (partnerList) Run(c *call) error {
	return c.with(config.RequiredForSecrets, func(a *wire.AdminCommands, _ config.Config) error {
		all, err := a.Partners.List(c.ctx)
		if err != nil {
			return err
		}
		var rows []fields
		for _, p := range all {
			rows = append(rows, described(p))
		}
		return c.list("partners", rows)
	})
}

func described(p partner.Partner) fields {
	origins := p.ReturnOrigins
	if origins == nil {
		origins = []string{}
	}
	var limit any
	if p.RateLimitPerMinute > 0 {
		limit = p.RateLimitPerMinute
	}
	return fields{
		{"partnerId", id.Partner.Of(p.ID)},
		{"slug", p.Slug},
		{"name", p.Name},
		{"contactEmail", p.ContactEmail},
		{"returnOrigins", origins},
		{"rateLimitPerMinute", limit},
		{"hasConnectSecret", p.HasConnectSecret},
		{"createdAt", at(p.CreatedAt)},
	}
}

type partnerShow struct {
	Partner string `required:"" id:"" help:"Slug of the partner."`
}

func (p partnerShow) Run(c *call) error {
	return c.with(config.RequiredForSecrets, func(a *wire.AdminCommands, _ config.Config) error {
		found, err := a.Partners.Get(c.ctx, p.Partner)
		if err != nil {
			return err
		}
		keys, err := a.Partners.ListAllKeys(c.ctx, p.Partner)
		if err != nil {
			return err
		}
		rows := []fields{}
		for _, k := range keys {
			rows = append(rows, describedKey(k))
		}
		return c.answer(append(described(found), field{"keys", rows}))
	})
}

type partnerRateLimit struct {
	Partner   string `required:"" id:"" help:"Slug of the partner."`
	PerMinute int    `required:"" help:"Requests a minute; 0 goes back to the default."`
}

func (p partnerRateLimit) Run(c *call) error {
	return c.with(config.RequiredForSecrets, func(a *wire.AdminCommands, _ config.Config) error {
		if err := a.Partners.SetRateLimit(c.ctx, p.Partner, p.PerMinute); err != nil {
			return err
		}
		return c.answer(fields{{"slug", p.Partner}, {"perMinute", p.PerMinute}})
	})
}

type partnerUpdate struct {
	Partner      string   `required:"" id:"" help:"Slug of the partner."`
	Name         *string  `help:"Its name as operators read it."`
	ContactEmail *string  `help:"Who hears of disabled webhooks; '' for nobody."`
	ReturnOrigin []string `help:"Origin that connect redirects to without asking. May be given several times; the origins replace all earlier ones. '' for none." sep:"none"`
}

// Validate returns an error if the command contains no change.
func (p partnerUpdate) Validate() error {
	if p.Name == nil && p.ContactEmail == nil && p.ReturnOrigin == nil {
		return errors.New("nothing to change: give --name, --contact-email or --return-origin")
	}
	return nil
}

func (p partnerUpdate) Run(c *call) error {
	update := partners.PartnerUpdate{Name: p.Name, ContactEmail: p.ContactEmail}
	if p.ReturnOrigin != nil {
		origins := slices.DeleteFunc(p.ReturnOrigin, func(s string) bool { return s == "" })
		update.ReturnOrigins = &origins
	}
	return c.with(config.RequiredForSecrets, func(a *wire.AdminCommands, _ config.Config) error {
		updated, changed, err := a.Partners.Update(c.ctx, p.Partner, update)
		if err != nil {
			return err
		}
		return c.answer(append(described(updated), field{"changed", changed}))
	})
}

type connectSecretCommands struct {
	Rotate connectSecretRotate `cmd:"" help:"Issue a new connect secret; links signed with the old one stop working."`
	Clear  connectSecretClear  `cmd:"" help:"Take the connect secret away; connect links then stop working."`
}

type connectSecretRotate struct {
	Partner string `required:"" id:"" help:"Slug of the partner."`
}

func (p connectSecretRotate) Run(c *call) error {
	if err := c.confirm("Connect URLs that %s signed with the present secret stop working at once.",
		p.Partner); err != nil {
		return err
	}
	return c.with(config.RequiredForSecrets, func(a *wire.AdminCommands, _ config.Config) error {
		fresh, err := a.Partners.RotateConnectSecret(c.ctx, p.Partner)
		if err != nil {
			return err
		}
		return c.answer(fields{{"connectSecret", fresh.Reveal()}})
	})
}

type connectSecretClear struct {
	Partner string `required:"" id:"" help:"Slug of the partner."`
}

func (p connectSecretClear) Run(c *call) error {
	if err := c.confirm("The connect secret of %s is deleted, and its connect URLs stop working at once.",
		p.Partner); err != nil {
		return err
	}
	return c.with(config.RequiredForSecrets, func(a *wire.AdminCommands, _ config.Config) error {
		if err := a.Partners.ClearConnectSecret(c.ctx, p.Partner); err != nil {
			return err
		}
		return c.answer(fields{{"slug", p.Partner}, {"hasConnectSecret", false}})
	})
}

type keyCommands struct {
	Create apiKeyCreate `cmd:"" help:"Give a partner one more API key. It is shown this once."`
	Revoke apiKeyRevoke `cmd:"" help:"End an API key; within five seconds it works nowhere."`
	List   apiKeyList   `cmd:"" help:"List a partner's API keys, revoked ones included."`
}

type apiKeyCreate struct {
	Partner string `required:"" id:"" help:"Slug of the partner."`
	Name    string `required:"" help:"What the key is for."`
}

func (k apiKeyCreate) Run(c *call) error {
	return c.with(config.RequiredForSecrets, func(a *wire.AdminCommands, _ config.Config) error {
		key, plain, err := a.Partners.CreateKey(c.ctx, k.Partner, k.Name)
		if err != nil {
			return err
		}
		return c.answer(fields{{"id", id.APIKey.Of(key.ID)}, {"key", plain.Reveal()}})
	})
}

type apiKeyRevoke struct {
	ID string `required:"" id:"" name:"id" help:"Id of the key: key_…"`
}

func (k apiKeyRevoke) Run(c *call) error {
	if err := c.confirm("Requests with the API key %s are refused within five seconds.", k.ID); err != nil {
		return err
	}
	return c.with(config.RequiredForSecrets, func(a *wire.AdminCommands, _ config.Config) error {
		key, err := a.Partners.RevokeKey(c.ctx, k.ID)
		if err != nil {
			return err
		}
		return c.answer(describedKey(key))
	})
}

type apiKeyList struct {
	Partner string `required:"" id:"" help:"Slug of the partner."`
}

func (k apiKeyList) Run(c *call) error {
	return c.with(config.RequiredForSecrets, func(a *wire.AdminCommands, _ config.Config) error {
		keys, err := a.Partners.ListAllKeys(c.ctx, k.Partner)
		if err != nil {
			return err
		}
		var rows []fields
		for _, key := range keys {
			rows = append(rows, describedKey(key))
		}
		return c.list("keys", rows)
	})
}

func describedKey(k partner.APIKey) fields {
	return fields{
		{"id", id.APIKey.Of(k.ID)},
		{"name", k.Name},
		{"prefix", k.Prefix},
		{"last4", k.Last4},
		{"createdAt", at(k.CreatedAt)},
		{"lastUsedAt", at(k.LastUsedAt)},
		{"revokedAt", at(k.RevokedAt)},
	}
}
