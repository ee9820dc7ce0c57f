// Command admin is the operator's command line (operations.md, "Admin CLI"). Results go to stdout, with --json as a
// single object. Errors go to stderr, and the exit code is then not 0.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"strings"

	"github.com/alecthomas/kong"

	"partnerdeposits/cmd/internal/config"
	"partnerdeposits/cmd/internal/run"
	"partnerdeposits/cmd/internal/wire"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/partner"
)

// commands is the whole command line.
type commands struct {
	JSON bool `help:"Print one JSON object." name:"json"`

	Migrate       migrateCommands       `cmd:"" help:"Bring the database schema up to date, or look at it."`
	Secrets       secretsCommands       `cmd:"" help:"Make or rotate the keyset that secrets are encrypted with."`
	Partner       partnerCommands       `cmd:"" help:"Create, list and change partners."`
	ConnectSecret connectSecretCommands `cmd:"" help:"Replace or clear the secret that a partner signs connect links with."`
	Key           keyCommands           `cmd:"" help:"Create, revoke and list API keys."`
	Account       accountCommands       `cmd:"" help:"Look at accounts and negotiate their maximum deposit."`
	Link          linkCommands          `cmd:"" help:"End links between partners and accounts."`
	Webhook       webhookCommands       `cmd:"" help:"Send webhook deliveries again."`
	Outbox        outboxCommands        `cmd:"" help:"Look at events that could not be filed; try them again or drop them."`
	ConnectURL    connectURLCommand     `cmd:"" name:"connect-url" help:"Sign a connect URL as the partner's own server would."`
	RestoreFinish restoreFinish         `cmd:"" name:"restore-finish" help:"Say that a restore from a backup is done: answers that Redis caches are void."`
	Doctor        doctorCommand         `cmd:"" help:"Look at everything the service stands on, and say what is wrong and what to do."`
}

func main() {
	ctx, stop := run.Signals()
	defer stop()
	os.Exit(execute(ctx, os.Args[1:], os.Environ(), os.Stdout, os.Stderr))
}

// execute runs a command line and gives the exit code.
func execute(ctx context.Context, args, environ []string, stdout, stderr io.Writer) int {
	var line commands
	helped := false
	parser, err := kong.New(&line,
		kong.Name("admin"), kong.Description("Operates the partner deposit service. Configured by the same environment as the service."),
		kong.Writers(stdout, stderr), kong.Exit(func(int) { helped = true }), kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}),
	)
	if err != nil {
		panic(err) // a mistake in commands itself
	}
	parsed, err := parser.Parse(args)
	switch {
	case helped:
		return run.ExitOK
	case err != nil:
		fmt.Fprintf(stderr, "admin: %v\nTry: admin --help\n", err) // no place is left to report a failed write
		return run.ExitUsage
	}
	c := &call{ctx: ctx, environ: environ, stdout: stdout, json: line.JSON, log: slog.New(slog.NewTextHandler(stderr, &slog.HandlerOptions{Level: slog.LevelError}))}
	run.AdoptLogs(c.log)
	if err := parsed.Run(c); err != nil {
		return run.Fail(stderr, explained(err))
	}
	return run.ExitOK
}

// call is a running command.
type call struct {
	ctx     context.Context //nolint:containedctx // the life of the process
	environ []string
	stdout  io.Writer
	log     *slog.Logger
	json    bool
}

// config reads the environment for a command with these needs.
func (c *call) config(needs config.Needs) (config.Config, error) {
	return config.Load(c.environ, needs)
}

// with opens the database for do.
func (c *call) with(needs config.Needs, do func(a *wire.Admin, cfg config.Config) error) error {
	cfg, err := c.config(needs)
	if err != nil {
		return err
	}
	a, err := wire.NewAdmin(c.ctx, cfg, c.log)
	if err != nil {
		return err
	}
	defer a.Close(c.ctx)
	return do(a, cfg)
}

// forStaff words errors whose messages are for operators in a browser.
var forStaff = map[string]string{
	partner.ErrNotFound.Code:             "There is no such partner. `admin partner list` lists them all.",
	connect.ErrMissingConnectSecret.Code: "The partner has no connect secret. `admin connect-secret rotate` makes a new connect secret.",
}

// explained puts the error code before the message that an API caller would read, or staff's, and adds the cause of an
// unreachable store.
func explained(err error) error {
	f := fault.Of(err)
	switch f.Kind {
	case fault.Internal:
		return err
	case fault.Unavailable:
		if f.Unwrap() != nil {
			return fmt.Errorf("the database cannot be reached: %w", f.Unwrap())
		}
	}
	if words, there := forStaff[f.Code]; there {
		return fmt.Errorf("%s: %s", f.Code, words)
	}
	return fmt.Errorf("%s: %s", f.Code, f.Message)
}

// flagged replaces the field that an invalid_field names by the flag of the command line. flags maps fields to flags.
func flagged(err error, flags map[string]string) error {
	if !errors.Is(err, fault.ErrInvalidField) {
		return err
	}
	field, problem, _ := strings.Cut(fault.Of(err).Message, ": ")
	if flag, there := flags[field]; there {
		return fault.ErrInvalidField.WithField(flag, "%s", problem)
	}
	return err
}
