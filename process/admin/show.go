package admin

import (
	"net/url"

	"partnerdeposits/app/support"
	"partnerdeposits/core/agreement"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/process/config"
	"partnerdeposits/process/wire"
)

type depositCommands struct {
	Show      depositShow      `cmd:"" help:"Show a deposit with its history, payments and deliveries."`
	EraseText depositEraseText `cmd:"" name:"erase-text" help:"Remove files, metadata, comments and descriptions, which may tell of a person."`
}

type depositShow struct {
	Deposit string `required:"" id:"" name:"id" help:"Id (dep_…) or reference (D-7K3M-9Q2X)."`
}

func (d depositShow) Run(c *call) error {
	return c.with(config.RequiredForSecrets, func(a *wire.AdminCommands, _ config.Config) error {
		found, err := a.Support.FindDeposit(c.ctx, d.Deposit)
		if err != nil {
			return err
		}
		return c.answer(describedDeposit(found))
	})
}

func describedDeposit(d support.DepositRecord) fields {
	history, payments := []fields{}, []fields{}
	for _, step := range d.History {
		history = append(history, fields{
			{"version", step.Version}, {"at", at(step.At)}, {"from", string(step.From)}, {"to", string(step.To)},
			{"trigger", string(step.Trigger)},
			{"actor", step.Actor.String()}, {"eventId", id.Event.FormatOrNil(step.EventID)}, {"detail", pairs(step.Detail)},
		})
	}
	for _, p := range d.Payments {
		payments = append(payments, fields{
			{"paymentId", id.Payment.Of(p.ID)}, {"kind", string(p.Kind)}, {"amountCents", cents(p.Amount)},
			{"status", string(p.Status)},
			{"providerRef", p.ProviderRef}, {"failure", p.Failure}, {"attempts", p.Attempts}, {"createdAt", at(p.CreatedAt)},
			{"settledAt", at(p.SettledAt)},
		})
	}
	var email, tenant any
	if d.Client != nil {
		email, tenant = d.Client.Email, d.Client.FirstName+" "+d.Client.LastName
	}
	return fields{
		{"depositId", id.Deposit.Of(d.ID)}, {"reference", d.Reference}, {"status", string(d.Status)},
		{"statusReason", textOrNone(d.StatusReason)},
		{"amountCents", cents(d.Amount)}, {"capturedAmountCents", cents(d.CapturedAmount)}, {"currency", "EUR"},
		{"accountId", id.Account.Of(d.AccountID)}, {"partner", textOrNone(d.Partner.Slug)},
		{"externalId", textOrNone(d.ExternalID)},
		{"rentalContract", textOrNone(d.RentalContract)}, {"clientId", id.Client.FormatOrNil(d.ClientID)}, {"tenant", tenant},
		{"email", email},
		{"contractStartAt", at(d.ContractStartAt)}, {"contractEndAt", at(d.ContractEndAt)},
		{"checkoutStartedAt", at(d.CheckoutStartedAt)},
		{"checkoutExpiresAt", at(d.CheckoutExpiresAt)}, {"activatedAt", at(d.ActivatedAt)}, {"expiresAt", at(d.ExpiresAt)},
		{"cancelledAt", at(d.CancelledAt)}, {"closedAt", at(d.ClosedAt)}, {"capturedAt", at(d.CapturedAt)},
		{"version", d.Version}, {"createdAt", at(d.CreatedAt)}, {"updatedAt", at(d.UpdatedAt)},
		{"history", history}, {"payments", payments}, {"agreements", describedAgreements(d.Agreements)},
		{"deliveries", describedDeliveries(d.Deliveries)},
	}
}

// describedAgreements returns the tenant's agreements with every field, as evidence in a dispute.
func describedAgreements(all []agreement.Record) []fields {
	out := []fields{}
	for _, a := range all {
		out = append(out, fields{
			{"agreedAt", at(a.At)}, {"clientId", id.Client.Of(a.ClientID)}, {"version", a.Version}, {"locale", a.Locale},
			{"words", a.Words},
			{"address", textOrNone(a.Origin.Address)}, {"userAgent", textOrNone(a.Origin.UserAgent)},
		})
	}
	return out
}

// textOrNone returns a pointer to a text; nil for "", which is printed as none.
func textOrNone(s string) *string {
	if s == "" {
		return nil
	}
	return &s
}

type clientCommands struct {
	Show      clientShow      `cmd:"" help:"Show the records of a tenant with their deposits."`
	Erase     clientErase     `cmd:"" help:"Remove the personal data of clients at once."`
	EraseText clientEraseText `cmd:"" name:"erase-text" help:"Remove files, metadata, comments and descriptions from every deposit of a client, erased or not."`
}

type clientShow struct {
	Client string `required:"" id:"" name:"id" help:"Id (cli_…) or e-mail address of the tenant."`
}

// Run prints a tenant's records and deposits. An e-mail address may have a record at each of several accounts.
func (s clientShow) Run(c *call) error {
	return c.with(config.RequiredForSecrets, func(a *wire.AdminCommands, _ config.Config) error {
		found, err := a.Support.FindClients(c.ctx, s.Client)
		if err != nil {
			return err
		}
		var rows []fields
		for _, client := range found {
			rows = append(rows, describedClient(client))
		}
		return c.objects("clients", rows)
	})
}

func describedClient(client support.ClientRecord) fields {
	deposits := []fields{}
	for _, d := range client.Deposits {
		deposits = append(deposits, summary(d))
	}
	return fields{
		{"clientId", id.Client.Of(client.ID)}, {"accountId", id.Account.Of(client.AccountID)},
		{"companyName", client.CompanyName},
		{"partner", textOrNone(client.Partner.Slug)}, {"email", textOrNone(client.Email)},
		{"firstName", textOrNone(client.FirstName)},
		{"lastName", textOrNone(client.LastName)}, {"phone", textOrNone(client.Phone)}, {"locale", textOrNone(client.Locale)},
		{"createdAt", at(client.CreatedAt)}, {"erasedAt", at(client.ErasedAt)}, {"deposits", deposits},
	}
}

func summary(d *deposit.Deposit) fields {
	return fields{
		{"depositId", id.Deposit.Of(d.ID)}, {"reference", d.Reference}, {"status", string(d.Status)},
		{"amountCents", cents(d.Amount)},
		{"capturedAmountCents", cents(d.CapturedAmount)}, {"createdAt", at(d.CreatedAt)},
	}
}

// objects prints objects one after the other, or as JSON.
func (c *call) objects(name string, all []fields) error {
	if c.json {
		return c.list(name, all)
	}
	for i, one := range all {
		if i > 0 {
			if err := c.line(""); err != nil {
				return err
			}
		}
		if err := c.answer(one); err != nil {
			return err
		}
	}
	return nil
}

type auditCommands struct {
	Show   auditShow   `cmd:"" help:"Show the newest actions of a request, on a subject, or by an actor."`
	Export auditExport `cmd:"" help:"Print every action of a time, oldest first, a JSON object on each line."`
}

type auditShow struct {
	Name string `required:"" id:"" name:"id" help:"Request id (req_…), id of the changed object, or actor: admin, prt_…, opr_… or an operator's e-mail address."`
}

// Run prints the audit entries about a request, a subject or an actor.
func (s auditShow) Run(c *call) error {
	return c.with(config.RequiredForSecrets, func(a *wire.AdminCommands, _ config.Config) error {
		found, err := a.Support.FindAuditEntries(c.ctx, s.Name)
		if err != nil {
			return err
		}
		var rows []fields
		for _, e := range found {
			rows = append(rows, fields{
				{"at", at(e.At)}, {"actor", e.Actor.String()}, {"action", e.Action}, {"subject", e.Subject},
				{"requestId", textOrNone(e.RequestID)}, {"detail", pairs(e.Detail)},
			})
		}
		return c.list("entries", rows)
	})
}

// withoutQuery returns a URL without user and query, which may hold a secret of the partner.
func withoutQuery(raw string) string {
	u, err := url.Parse(raw)
	if err != nil {
		return none
	}
	shown := url.URL{Scheme: u.Scheme, Host: u.Host, Path: u.Path}
	if u.RawQuery != "" {
		return shown.String() + "?…"
	}
	return shown.String()
}
