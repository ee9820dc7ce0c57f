package admin

import (
	"errors"
	"strings"

	"partnerdeposits/app/accounts/connections"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	ports "partnerdeposits/ports/platform"
	"partnerdeposits/process/config"
	"partnerdeposits/process/wire"
)

type accountCommands struct {
	Ceiling accountCeiling `cmd:"" help:"Negotiate an account's maximum deposit."`
	List    accountList    `cmd:"" help:"List accounts, the newest first."`
	Show    accountShow    `cmd:"" help:"Show one account, its operator and its partner."`
}

type accountCeiling struct {
	Account string `required:"" id:"" help:"Id of the account: acct_…"`
	MaxEUR  string `required:"" name:"max-eur" help:"Maximum in euros, from 70.00 to 100000.00; 0 goes back to the default."`
}

func (a accountCeiling) Run(c *call) error {
	maximum, err := typedEuros(a.MaxEUR)
	if err != nil || maximum < 0 {
		return fault.ErrInvalidField.WithField("max-eur", "%q is not an amount in euros such as 4000.00", a.MaxEUR)
	}
	accountID, err := accountIDOf(a.Account)
	if err != nil {
		return err
	}
	return c.with(config.RequiredForSecrets, func(admin *wire.AdminCommands, _ config.Config) error {
		if err := admin.Connections.SetDepositCeiling(c.ctx, accountID, maximum); err != nil {
			return flagged(err, map[string]string{"maxAmount": "max-eur"})
		}
		view, err := admin.Connections.FindAccount(c.ctx, accountID)
		if err != nil {
			return err
		}
		return c.answer(fields{{"accountId", a.Account}, {"maxAmountCents", cents(view.DepositCeiling())}, {"currency",
			"EUR"}})
	})
}

func accountIDOf(s string) (id.ID, error) {
	accountID, ok := id.Account.Parse(s)
	if !ok {
		return id.ID{}, connect.ErrAccountNotFound
	}
	return accountID, nil
}

type accountList struct{}

func (accountList) Run(c *call) error {
	const pageSize = 100
	return c.with(config.RequiredForSecrets, func(admin *wire.AdminCommands, _ config.Config) error {
		var rows []fields
		for page := (ports.Page{Limit: pageSize}); ; {
			got, err := admin.Connections.ListAccounts(c.ctx, page)
			if err != nil {
				return err
			}
			for _, a := range got.Items {
				v := connections.AccountView{Account: a}
				rows = append(rows, fields{
					{"accountId", id.Account.Of(a.ID)},
					{"companyName", a.CompanyName},
					{"maxAmountCents", cents(v.DepositCeiling())},
					{"createdAt", at(a.CreatedAt)},
				})
			}
			if got.Next.IsZero() {
				return c.list("accounts", rows)
			}
			page.Cursor = got.Next
		}
	})
}

type accountShow struct {
	Account string `required:"" id:"" help:"Id (acct_… or opr_…) or the operator's e-mail address; with --partner, also the partner's own id of the operator."`
	Partner string `help:"Slug of the partner whose own id of the operator is given."`
}

func (a accountShow) Run(c *call) error {
	return c.with(config.RequiredForSecrets, func(admin *wire.AdminCommands, _ config.Config) error {
		accountID, err := admin.Support.FindAccountID(c.ctx, a.Account, a.Partner)
		if err != nil {
			return err
		}
		v, err := admin.Connections.FindAccount(c.ctx, accountID)
		if err != nil {
			return err
		}
		out := fields{
			{"accountId", id.Account.Of(v.Account.ID)},
			{"companyName", v.Account.CompanyName},
			{"operatorId", id.Operator.Of(v.Operator.ID)},
			{"email", v.Operator.Email},
			{"maxAmountCents", cents(v.DepositCeiling())},
			{"currency", "EUR"},
			{"createdAt", at(v.Account.CreatedAt)},
		}
		if v.Link == nil {
			return c.answer(append(out, field{"partner", nil}, field{"externalId", nil}, field{"linkedAt", nil}))
		}
		return c.answer(append(out, field{"partner", v.Partner.Slug}, field{"externalId", v.Link.ExternalID},
			field{"linkedAt", at(v.Link.LinkedAt)}))
	})
}

type linkCommands struct {
	Revoke linkRevoke `cmd:"" help:"End the link between a partner and an account; the operator is told by mail."`
}

type linkRevoke struct {
	Partner string `required:"" id:"" help:"Slug of the partner."`
	Account string `required:"" id:"" help:"Id of the account: acct_…"`
}

// Run revokes the link between a partner and an account, unless it is revoked already.
func (l linkRevoke) Run(c *call) error {
	accountID, err := accountIDOf(l.Account)
	if err != nil {
		return err
	}
	if err := c.confirm("%s loses its access to account %s, and the operator is told by mail.", l.Partner,
		l.Account); err != nil {
		return err
	}
	return c.with(config.RequiredForDashboardLinks, func(admin *wire.AdminCommands, _ config.Config) error {
		changed, err := admin.Connections.RevokeByAdmin(c.ctx, l.Partner, accountID)
		if errors.Is(err, connect.ErrAccountNotFound) {
			return connect.ErrAccountNotFound.WithMessage(
				"There is no such account, or it was never linked to %s. `admin account show --account %s` tells.", l.Partner,
				l.Account)
		}
		if err != nil {
			return err
		}
		return c.answer(
			fields{{"slug", l.Partner}, {"accountId", l.Account}, {"status", string(connect.LinkRevoked)}, {"changed", changed}})
	})
}

type connectURLCommand struct {
	Partner    string `required:"" id:"" help:"Slug of the partner."`
	ExternalID string `required:"" id:"" name:"external-id" help:"The partner's own id of the operator."`
	Email      string `help:"Fills in the signup form."`
	Name       string `help:"Fills in the company's name."`
	ReturnURL  string `name:"return-url" help:"Where the operator goes in the end."`
}

func (u connectURLCommand) Run(c *call) error {
	return c.with(config.RequiredForDashboardLinks, func(admin *wire.AdminCommands, _ config.Config) error {
		url, err := admin.Connections.BuildConnectURL(c.ctx, connections.ConnectURLRequest{
			PartnerSlug: u.Partner, ExternalID: u.ExternalID, Email: u.Email, Name: u.Name, ReturnURL: u.ReturnURL,
		})
		if err != nil {
			return flagged(err, map[string]string{"externalId": "external-id", "returnUrl": "return-url"})
		}
		if c.json {
			return c.answer(fields{{"url", url}})
		}
		return c.table(func(row func(cells ...any)) { row(url) })
	})
}

// typedEuros reads an amount in euros that a person typed. It refuses exponents, which are typing errors here.
func typedEuros(text string) (money.Cents, error) {
	if strings.ContainsAny(text, "eE") {
		return 0, money.ErrNotNumber
	}
	return money.ParseEuros(text)
}
