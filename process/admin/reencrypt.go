package admin

import (
	"errors"
	"time"

	"partnerdeposits/process/config"
	"partnerdeposits/process/wire"
)

type reencrypt struct{}

// errReencryptInterrupted says how to continue an interrupted re-encryption, which works in pages.
var errReencryptInterrupted = codedError{codeInterrupted,
	errors.New("interrupted; every row is readable, and the command goes on with the rest when it runs again")}

// Run encrypts the stored secrets with the primary key, and skips those that an earlier run has encrypted.
func (reencrypt) Run(c *call) error {
	return c.with(config.RequiredForSecrets, func(a *wire.AdminCommands, _ config.Config) error {
		p := c.progress("rows read")
		defer p.end()
		total, err := a.Keyset.EstimateRows(c.ctx)
		if err != nil {
			return err
		}
		var changed, read int64
		for _, kind := range a.Keyset.SecretColumns() {
			next := kind.FirstPage()
			for {
				page, err := a.Keyset.ReencryptPage(c.ctx, next)
				if err != nil {
					if c.ctx.Err() != nil {
						return errReencryptInterrupted
					}
					return err
				}
				read, changed = read+int64(page.Read), changed+int64(page.Changed)
				p.report(time.Now(), read, max(read, total), kind.Name)
				if page.Done {
					break
				}
				next = page.Next
			}
		}
		p.end()
		if err := a.RecordReencryption(c.ctx); err != nil {
			return err
		}
		return c.answer(fields{{"read", read}, {"reencrypted", changed}})
	})
}
