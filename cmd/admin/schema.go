package main

import (
	"fmt"

	"partnerdeposits/cmd/internal/config"
	"partnerdeposits/cmd/internal/wire"
)

type migrateCommands struct {
	Up     migrateUp     `cmd:"" help:"Bring the schema to the newest version. Nothing else ever changes it."`
	Status migrateStatus `cmd:"" help:"List the migrations and whether the database has them."`
}

type migrateUp struct{}

// Run migrates. Concurrent runs wait for each other.
func (migrateUp) Run(c *call) error {
	cfg, err := c.config(config.Database)
	if err != nil {
		return err
	}
	version, err := wire.MigrateUp(c.ctx, cfg, func(cause error) {
		c.log.Error("a table is in use; the migration waits and tries again", "cause", cause)
	})
	if err != nil {
		return err
	}
	answer := fields{{"version", version}}
	if newest := wire.NewestMigration(); version > newest {
		answer = append(answer, field{"note", fmt.Sprintf("nothing was done: this binary is older than the schema, and knows version %d", newest)})
	}
	return c.answer(answer)
}

type migrateStatus struct{}

// Run lists migrations.
func (migrateStatus) Run(c *call) error {
	cfg, err := c.config(config.Database)
	if err != nil {
		return err
	}
	all, err := wire.Migrations(c.ctx, cfg)
	if err != nil {
		return err
	}
	var rows []fields
	for _, m := range all {
		rows = append(rows, fields{{"version", m.Version}, {"name", m.Name}, {"applied", m.Applied}})
	}
	return c.list("migrations", rows)
}

type restoreFinish struct{}

// Run begins a new restore epoch.
func (restoreFinish) Run(c *call) error {
	return c.with(config.Secrets, func(a *wire.Admin, _ config.Config) error {
		epoch, err := a.Restore.Finish(c.ctx)
		if err != nil {
			return err
		}
		return c.answer(fields{{"epoch", epoch.String()}})
	})
}

type secretsCommands struct {
	NewKeyset newKeyset    `cmd:"" name:"new-keyset" help:"Make a keyset for SECRETS_KEYSET."`
	Rotate    rotateKeyset `cmd:"" help:"Add a new primary key to SECRETS_KEYSET; what older keys encrypted still decrypts."`
}

type newKeyset struct{}

// Run makes a keyset. It needs no configuration, since a keyset is part of the first configuration.
func (newKeyset) Run(c *call) error {
	keyset, err := wire.NewKeyset()
	if err != nil {
		return err
	}
	return c.keyset(keyset)
}

type rotateKeyset struct{}

// Run rotates the configured keyset. Give the new keyset to every process before you discard the old one.
func (rotateKeyset) Run(c *call) error {
	cfg, err := c.config(config.Nothing)
	if err != nil {
		return err
	}
	if cfg.SecretsKeyset == "" {
		return config.Mistakes{"SECRETS_KEYSET: is required, the keyset to rotate"}
	}
	keyset, err := wire.RotateKeyset(cfg)
	if err != nil {
		return err
	}
	return c.keyset(keyset)
}

// keyset prints the keyset alone, so that a shell can capture the output.
func (c *call) keyset(keyset string) error {
	if c.json {
		return c.answer(fields{{"keyset", keyset}})
	}
	return c.table(func(row func(cells ...any)) { row(keyset) })
}
