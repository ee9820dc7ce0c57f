// Package admin is the command line with which staff administer the service (operations.md, "Admin CLI"). Results
// go to stdout, errors to stderr.
package admin

import (
	"context"
	"fmt"
	"io"
	"log/slog"
	"os"
	"slices"
	"time"

	"github.com/alecthomas/kong"

	"partnerdeposits/process/config"
	"partnerdeposits/process/run"
	"partnerdeposits/process/version"
	"partnerdeposits/process/wire"
)

type commands struct {
	JSON    bool        `help:"Print one JSON object; errors are a JSON object on stderr." name:"json"`
	Yes     bool        `help:"Do not ask before a change that cannot be undone. Only terminals are asked; a piped answer is not read."`
	Version versionFlag `help:"Print the version of this binary."`

	Migrate       migrateCommands       `cmd:"" help:"Bring the database schema up to date, or look at it."`
	Secrets       secretsCommands       `cmd:"" help:"Make or rotate the keyset that secrets are encrypted with."`
	Partner       partnerCommands       `cmd:"" help:"Create, list and change partners."`
	ConnectSecret connectSecretCommands `cmd:"" help:"Replace or clear the secret that a partner signs connect links with."`
	Key           keyCommands           `cmd:"" help:"Create, revoke and list API keys."`
	Account       accountCommands       `cmd:"" help:"Look at accounts and negotiate their maximum deposit."`
	Operator      operatorCommands      `cmd:"" help:"Look at an operator, mail a link for a new password, or end sessions."`
	Deposit       depositCommands       `cmd:"" help:"Look at a deposit, or erase the words of people from it."`
	Collection    collectionCommands    `cmd:"" help:"Look at what becomes of captured amounts; charge again, cancel or refund."`
	Payments      paymentsCommands      `cmd:"" help:"Try the payment provider, and compare our books with the provider's."`
	Client        clientCommands        `cmd:"" help:"Look at the records of a tenant, or erase them."`
	Delivery      deliveryCommands      `cmd:"" help:"Look at a webhook delivery."`
	Event         eventCommands         `cmd:"" help:"Look at an event."`
	Audit         auditCommands         `cmd:"" help:"Look at the audit log, or export it."`
	Link          linkCommands          `cmd:"" help:"End links between partners and accounts."`
	Webhook       webhookCommands       `cmd:"" help:"Look at a subscription; send deliveries again."`
	Outbox        outboxCommands        `cmd:"" help:"Look at events that could not be filed; try them again or drop them."`
	ConnectURL    connectURLCommand     `cmd:"" name:"connect-url" help:"Sign a connect URL as the partner's own server would."`
	RestoreFinish restoreFinish         `cmd:"" name:"restore-finish" help:"Say that a restore from a backup is done: answers that Redis caches are void."`
	Doctor        doctorCommand         `cmd:"" help:"Look at everything the service stands on, and say what is wrong and what to do."`
	Help          helpCommand           `cmd:"" help:"Print the help of a command."`
	Completion    completionCommand     `cmd:"" help:"Print a script that completes commands and flags in a shell."`
	Complete      completeCommand       `cmd:"" name:"__complete" hidden:"" passthrough:"" help:"List the words that may come next."`
}

func Main() int {
	ctx, stop := run.SignalContext()
	defer stop()
	return execute(ctx, os.Args[1:], os.Environ(), streams{os.Stdin, os.Stdout, os.Stderr})
}

// newParser returns the parser that fills line. exit is called after --help and --version have printed.
func newParser(line *commands, out streams, exit func(int)) *kong.Kong {
	parser, err := kong.New(line,
		kong.Name("admin"),
		kong.Description("Operates the partner deposit service. Configured by the same environment as the service."),
		kong.Writers(out.stdout, out.stderr), kong.Exit(exit), kong.UsageOnError(),
		kong.ConfigureHelp(kong.HelpOptions{Compact: true}), kong.Help(printHelp),
		kong.PostBuild(addArguments),
	)
	if err != nil {
		panic(err) // A panic here is a mistake in the declaration of the admin commands.
	}
	return parser
}

func execute(ctx context.Context, args, environ []string, s streams) int {
	var line commands
	helped := false
	parser := newParser(&line, s, func(int) { helped = true })
	asked := slices.Contains(args, "--json")
	parsed, err := parser.Parse(args)
	switch {
	case helped:
		return run.ExitOK
	case err != nil:
		return fail(s.stderr, asked, misused(err))
	}
	c := &call{ctx: ctx, environ: environ, streams: s, json: line.JSON, yes: line.Yes, terminal: s.isTerminal(),
		now: time.Now(), parser: parser, command: commandOf(parsed)}
	c.log = slog.New(c.logHandler())
	run.RedirectLibraryLogs(c.log)
	if err := parsed.Run(c); err != nil {
		if ctx.Err() != nil {
			err = interruptedAt(err)
		}
		return fail(s.stderr, line.JSON, err)
	}
	return run.ExitOK
}

type call struct {
	ctx     context.Context //nolint:containedctx // the life of the process
	environ []string
	streams
	log  *slog.Logger
	json bool
	yes  bool
	// Whether stdin and stdout are terminals, so that a person can answer questions.
	terminal bool
	now      time.Time
	parser   *kong.Kong
	command  string
}

// logHandler writes errors to stderr, as JSON if the command prints JSON.
func (c *call) logHandler() slog.Handler {
	options := &slog.HandlerOptions{Level: slog.LevelError}
	if c.json {
		return slog.NewJSONHandler(c.stderr, options)
	}
	return slog.NewTextHandler(c.stderr, options)
}

func (c *call) config(needs config.RequiredVariables) (config.Config, error) {
	return config.Load(c.environ, needs)
}

// with opens the database with the configuration, runs do, and closes the database.
func (c *call) with(needs config.RequiredVariables, do func(a *wire.AdminCommands, cfg config.Config) error) error {
	cfg, err := c.config(needs)
	if err != nil {
		return err
	}
	a, err := wire.NewAdminCommands(c.ctx, cfg, c.log)
	if err != nil {
		return err
	}
	defer a.Close(context.WithoutCancel(c.ctx))
	return do(a, cfg)
}

type versionFlag bool

// BeforeReset prints the version, before kong checks whether arguments are missing.
func (versionFlag) BeforeReset(app *kong.Kong, ctx *kong.Context) error {
	v := version.Read()
	if slices.Contains(ctx.Args, "--json") {
		c := &call{streams: streams{stdout: app.Stdout}, json: true}
		if err := c.answer(fields{
			{"version", v.Version}, {"revision", v.Revision}, {"goVersion", v.Go}, {"date", v.Date},
		}); err != nil {
			return err
		}
	} else {
		fmt.Fprintln(app.Stdout, v.VersionLine("admin"))
	}
	app.Exit(run.ExitOK)
	return nil
}

type streams struct {
	stdin          io.Reader
	stdout, stderr io.Writer
}
