package admin

import (
	"errors"
	"fmt"
	"time"

	"partnerdeposits/app/partners/clients"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/tenant"
	"partnerdeposits/process/config"
	"partnerdeposits/process/wire"
)

type clientErase struct {
	ID []string `required:"" id:"" name:"id" help:"Id of a client: cli_… The flag may be repeated: a person may be several clients."`
}

// Run erases the clients' personal data, each in a transaction of its own, and skips those erased before. If an id
// is unknown, none is erased.
func (e clientErase) Run(c *call) error {
	wanted := make([]id.ID, len(e.ID))
	for i, name := range e.ID {
		var ok bool
		if wanted[i], ok = id.Client.Parse(name); !ok {
			return noClient(name)
		}
	}
	if err := c.confirm("The personal data of %d client(s) is removed. Their deposits and the words in them stay.",
		len(wanted)); err != nil {
		return err
	}
	return c.with(config.RequiredForSecrets, func(a *wire.AdminCommands, _ config.Config) error {
		for _, name := range e.ID {
			if _, err := a.Support.FindClients(c.ctx, name); err != nil {
				return namingClient(err, name)
			}
		}
		p := c.progress("clients erased")
		defer p.end()
		rows := make([]fields, 0, len(wanted))
		for i, clientID := range wanted {
			changed, err := a.Clients.EraseByAdmin(c.ctx, clientID)
			switch {
			case c.ctx.Err() != nil && err != nil:
				return codedError{codeInterrupted, fmt.Errorf(
					"interrupted; %d of %d clients are erased, and the command erases the rest when it runs again", i, len(wanted))}
			case err != nil:
				return err
			}
			rows = append(rows, fields{{"clientId", e.ID[i]}, {"changed", changed}})
			p.report(time.Now(), int64(i+1), int64(len(wanted)), "")
		}
		p.end()
		return c.list("clients", rows)
	})
}

// namingClient adds the id that was given to the error for an unknown client.
func namingClient(err error, name string) error {
	if errors.Is(err, tenant.ErrNotFound) {
		return noClient(name)
	}
	return err
}

func noClient(name string) error {
	return tenant.ErrNotFound.WithMessage("There is no client %s. Nothing was erased.", name)
}

type clientEraseText struct {
	ID string `required:"" id:"" name:"id" help:"Id of the client: cli_…"`
}

// Run removes the files and the words of people from every deposit of a client, and skips deposits that an earlier
// run has done.
func (e clientEraseText) Run(c *call) error {
	clientID, ok := id.Client.Parse(e.ID)
	if !ok {
		return noClient(e.ID)
	}
	if err := c.confirm("Every deposit of %s loses its metadata, and its history the comments and descriptions.",
		e.ID); err != nil {
		return err
	}
	return c.with(config.RequiredForSecrets, func(a *wire.AdminCommands, _ config.Config) error {
		p := c.progress("deposits read")
		defer p.end()
		done, err := a.Clients.EraseTextOfClient(c.ctx, clientID, func(so clients.TextErasureProgress) {
			p.report(time.Now(), int64(so.Read), int64(so.Total), "")
		})
		switch {
		case c.ctx.Err() != nil && err != nil:
			return codedError{codeInterrupted,
				fmt.Errorf(
					"interrupted; %d of %d deposits hold no words any more, and the command goes on with the rest when it runs again",
					done.Read, done.Total)}
		case err != nil:
			return namingClient(err, e.ID)
		}
		p.end()
		return c.answer(fields{{"clientId", e.ID}, {"deposits", done.Read}, {"changed", done.Erased}})
	})
}

type depositEraseText struct {
	ID string `required:"" id:"" name:"id" help:"Id of the deposit: dep_…"`
}

func (e depositEraseText) Run(c *call) error {
	depositID, ok := id.Deposit.Parse(e.ID)
	if !ok {
		return deposit.ErrNotFound
	}
	if err := c.confirm("%s loses its metadata, and its history the comments and descriptions.", e.ID); err != nil {
		return err
	}
	return c.with(config.RequiredForSecrets, func(a *wire.AdminCommands, _ config.Config) error {
		changed, err := a.Clients.EraseDepositText(c.ctx, depositID)
		if err != nil {
			return err
		}
		return c.answer(fields{{"depositId", e.ID}, {"changed", changed}})
	})
}
