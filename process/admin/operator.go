package admin

import (
	"errors"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/process/config"
	"partnerdeposits/process/wire"
)

type operatorCommands struct {
	Show        operatorShow          `cmd:"" help:"Show an operator with the sessions that have not ended."`
	Reset       operatorPasswordReset `cmd:"" help:"Mail an operator the link that sets a new password."`
	EndSessions operatorEndSessions   `cmd:"" name:"end-sessions" help:"Log an operator out everywhere."`
}

type operatorName struct {
	ID    string `id:"" name:"id" help:"Id (opr_… or acct_…) or e-mail address of the operator."`
	Email string `help:"E-mail address of the operator."`
}

// Validate returns an error unless the operator was named exactly once.
func (n operatorName) Validate() error {
	if (n.ID == "") == (n.Email == "") {
		return errors.New("name one operator: by id or e-mail address, or by --email")
	}
	return nil
}

func (n operatorName) find(c *call, a *wire.AdminCommands) (connect.Operator, connect.Account, error) {
	accountID, err := a.Support.FindAccountID(c.ctx, n.ID+n.Email, "")
	if err != nil {
		return connect.Operator{}, connect.Account{}, err
	}
	v, err := a.Connections.FindAccount(c.ctx, accountID)
	return v.Operator, v.Account, err
}

type operatorShow struct {
	operatorName `embed:""`
}

// Run prints an operator and the open sessions, without their tokens.
func (o operatorShow) Run(c *call) error {
	return c.with(config.RequiredForSecrets, func(a *wire.AdminCommands, _ config.Config) error {
		who, account, err := o.find(c, a)
		if err != nil {
			return err
		}
		sessions, err := a.Operators.ListSessions(c.ctx, who.ID, "")
		if err != nil {
			return err
		}
		list := []fields{}
		for _, s := range sessions {
			list = append(list, fields{{"browser", textOrNone(s.Browser)}, {"createdAt", at(s.CreatedAt)},
				{"lastSeenAt", at(s.LastSeenAt)}, {"expiresAt", at(s.ExpiresAt)}})
		}
		return c.answer(fields{
			{"operatorId", id.Operator.Of(who.ID)}, {"email", who.Email}, {"verifiedAt", at(who.VerifiedAt)},
			{"locale", textOrNone(who.Locale)},
			{"accountId", id.Account.Of(account.ID)}, {"companyName", account.CompanyName}, {"createdAt", at(who.CreatedAt)},
			{"sessions", list},
		})
	})
}

type operatorPasswordReset struct {
	operatorName `embed:""`
	TOTP         bool   `name:"totp" help:"Turn two-factor codes off first: the operator has lost the app and the recovery codes, and has shown who they are."`
	NewEmail     string `name:"new-email" help:"Replace the address first: the operator has lost the mailbox too, and has shown who they are."`
}

// Run mails an operator the link that sets a new password. If two-factor codes are turned off or the address is
// replaced, every session ends and the old address is notified.
func (o operatorPasswordReset) Run(c *call) error {
	return c.with(config.RequiredForDashboardLinks, func(a *wire.AdminCommands, _ config.Config) error {
		who, _, err := o.find(c, a)
		if err != nil {
			return err
		}
		if o.NewEmail != "" {
			if err := c.confirm("%s is replaced by %s as the address of %s, and every session ends.", who.Email, o.NewEmail,
				id.Operator.Of(who.ID)); err != nil {
				return err
			}
		}
		if o.TOTP {
			if err := c.confirm("The password alone is enough for %s to log in, and every session ends.",
				who.Email); err != nil {
				return err
			}
			if err := a.Operators.DisableTOTPByAdmin(c.ctx, who.ID); err != nil {
				return err
			}
		}
		mailed, err := a.Operators.MailPasswordResetByAdmin(c.ctx, who.ID, o.NewEmail)
		if err != nil {
			return err
		}
		return c.answer(fields{{"operatorId", id.Operator.Of(who.ID)}, {"mailedTo", mailed}})
	})
}

type operatorEndSessions struct {
	operatorName `embed:""`
}

func (o operatorEndSessions) Run(c *call) error {
	return c.with(config.RequiredForSecrets, func(a *wire.AdminCommands, _ config.Config) error {
		who, _, err := o.find(c, a)
		if err != nil {
			return err
		}
		if err := c.confirm("%s is logged out in every browser.", who.Email); err != nil {
			return err
		}
		n, err := a.Operators.EndSessionsByAdmin(c.ctx, who.ID)
		if err != nil {
			return err
		}
		return c.answer(fields{{"operatorId", id.Operator.Of(who.ID)}, {"ended", n}})
	})
}
