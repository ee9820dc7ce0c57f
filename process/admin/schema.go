package admin

import (
	"context"
	"errors"
	"fmt"
	"time"

	"partnerdeposits/process/config"
	"partnerdeposits/process/wire"
)

type migrateCommands struct {
	Up     migrateUp     `cmd:"" help:"Bring the schema to the newest version. Nothing else ever changes it."`
	Status migrateStatus `cmd:"" help:"List the migrations and whether the database has them."`
}

type migrateUp struct{}

// Run brings the database schema up to date. Concurrent runs wait for each other.
func (migrateUp) Run(c *call) error {
	cfg, err := c.config(config.RequiredForDatabase)
	if err != nil {
		return err
	}
	told := c.watchMigration(cfg)
	version, err := wire.MigrateUp(c.ctx, cfg, func(cause error) {
		c.log.Error("a table is in use; the migration waits and tries again", "cause", cause)
	})
	told()
	switch {
	case err != nil && c.ctx.Err() != nil:
		return errMigrationInterrupted
	case err != nil:
		return err
	}
	answer := fields{{"version", version}}
	if newest := wire.NewestMigrationVersion(); version > newest {
		answer = append(answer,
			field{"note", fmt.Sprintf("nothing was done: this binary is older than the schema, and knows version %d", newest)})
	}
	return c.answer(answer)
}

// errMigrationInterrupted says how to continue an interrupted migration. Each commits as a whole, or builds an
// index that the next run builds again.
var errMigrationInterrupted = codedError{codeInterrupted,
	errors.New("interrupted; the command goes on with the migration that was interrupted when it runs again")}

// watchMigration prints the progress of migrations until the returned function is called.
func (c *call) watchMigration(cfg config.Config) (stop func()) {
	ctx, cancel := context.WithCancel(c.ctx)
	ended := make(chan struct{})
	go func() {
		defer close(ended)
		steps, blocks := c.progress("migrations"), c.progress("blocks")
		defer steps.end()
		defer blocks.end()
		_ = wire.WatchMigration(ctx, cfg, time.Second, func(p wire.MigrationProgress) {
			// The migration itself reports a mistake in the configuration.
			switch {
			case p.Applied >= p.Total:
			case p.Index == "":
				blocks.end()
				blocks = c.progress("blocks")
				steps.report(time.Now(), int64(p.Applied), int64(p.Total), p.Current)
			default:
				steps.end()
				blocks.report(time.Now(), p.Done, p.Blocks, p.Current+", index "+p.Index)
			}
		})
	}()
	return func() { cancel(); <-ended }
}

type migrateStatus struct{}

func (migrateStatus) Run(c *call) error {
	cfg, err := c.config(config.RequiredForDatabase)
	if err != nil {
		return err
	}
	all, err := wire.ListMigrations(c.ctx, cfg)
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

// Run records that a restore from a backup is finished, so that responses that Redis cached before are no longer
// used.
func (restoreFinish) Run(c *call) error {
	if err := c.confirm("The answers that Redis caches become void."); err != nil {
		return err
	}
	return c.with(config.RequiredForSecrets, func(a *wire.AdminCommands, _ config.Config) error {
		epoch, err := a.Restore.Finish(c.ctx)
		if err != nil {
			return err
		}
		return c.answer(fields{{"epoch", epoch.String()}})
	})
}

type secretsCommands struct {
	NewKeyset newKeyset    `cmd:"" name:"new-keyset" help:"Make a keyset for SECRETS_KEYSET."`
	AddKey    addKeysetKey `cmd:"" name:"add-key" help:"Add a key to SECRETS_KEYSET that decrypts and does not encrypt yet: the first half of a rotation while processes serve."`
	UseKey    useKeysetKey `cmd:"" name:"use-key" help:"Let the newest key of SECRETS_KEYSET encrypt, once every process has the key: the second half."`
	Rotate    rotateKeyset `cmd:"" help:"Add a new primary key to SECRETS_KEYSET, as add-key and use-key do; what older keys encrypted still decrypts."`
	Reencrypt reencrypt    `cmd:"" help:"Encrypt the stored secrets with the primary key of SECRETS_KEYSET; interrupted, it goes on where it stopped."`
}

type newKeyset struct{}

// Run creates and prints a keyset without reading the configuration, of which the keyset becomes a part.
func (newKeyset) Run(c *call) error {
	keyset, err := wire.NewKeyset()
	if err != nil {
		return err
	}
	return c.keyset(keyset)
}

type addKeysetKey struct{}

// Run adds a key to the configured keyset and prints the result. Processes with either keyset can read each other's
// secrets.
func (addKeysetKey) Run(c *call) error { return c.changeKeyset(wire.AddKeysetKey) }

type useKeysetKey struct{}

// Run makes the newest key of the configured keyset primary. Every process must have it already, or it cannot read
// new secrets.
func (useKeysetKey) Run(c *call) error {
	err := c.changeKeyset(wire.PromoteNewestKey)
	if errors.Is(err, wire.ErrKeyAlreadyPrimary) {
		return codedError{"key_in_use", errors.New("the newest key encrypts already: `admin secrets add-key` adds another")}
	}
	return err
}

type rotateKeyset struct{}

// Run adds a new primary key to the configured keyset. Every process needs the result before the old keyset is
// discarded.
func (rotateKeyset) Run(c *call) error { return c.changeKeyset(wire.RotateKeyset) }

func (c *call) changeKeyset(change func(config.Config) (string, error)) error {
	cfg, err := c.config(config.NothingRequired)
	if err != nil {
		return err
	}
	if cfg.SecretsKeyset == "" {
		return config.Mistakes{"SECRETS_KEYSET: is required, the keyset to change"}
	}
	keyset, err := change(cfg)
	if err != nil {
		return err
	}
	return c.keyset(keyset)
}

// keyset prints a keyset without any other text, for capture by a shell.
func (c *call) keyset(keyset string) error {
	if c.json {
		return c.answer(fields{{"keyset", keyset}})
	}
	return c.table(func(row func(cells ...any)) { row(keyset) })
}
