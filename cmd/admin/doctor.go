package main

import (
	"errors"
	"fmt"
	"time"

	"partnerdeposits/cmd/internal/config"
	"partnerdeposits/cmd/internal/wire"
)

type doctorCommand struct{}

// Bounds of what is healthy.
const (
	clockTolerance = 5 * time.Second
	outboxLag      = 30 * time.Second
	dueLag         = 2 * time.Minute
)

// errUnwell ends the doctor with an exit code; what is wrong has been printed.
var errUnwell = errors.New("something is wrong; see above")

// finding is one thing that was looked at.
type finding struct {
	name, wrong, todo string // wrong "": healthy
}

// Run looks at everything, prints it, and fails where something is wrong.
func (doctorCommand) Run(c *call) error {
	cfg, err := c.config(config.Service)
	if err != nil {
		return err
	}
	around, err := wire.LookAround(c.ctx, cfg, c.log)
	if err != nil {
		return err
	}
	healthy := true
	var rows []fields
	for _, f := range diagnose(around) {
		healthy = healthy && f.wrong == ""
		state := "ok"
		if f.wrong != "" {
			state = f.wrong
		}
		rows = append(rows, fields{{"check", f.name}, {"ok", f.wrong == ""}, {"finding", state}, {"todo", f.todo}})
	}
	if c.json {
		err = c.answer(fields{{"ok", healthy}, {"checks", rows}})
	} else {
		err = c.list("checks", rows)
	}
	if err == nil && !healthy {
		return errUnwell
	}
	return err
}

func diagnose(o wire.Outside) []finding {
	findings := []finding{
		unreachable("database", o.Postgres, "Check DATABASE_URL, that Postgres runs, and that this machine may connect to it."),
		unreachable("redis", o.Redis, "Check REDIS_URL and that Redis runs. The service goes on without it, slower and without rate limits."),
	}
	if o.Postgres != nil {
		return append(findings, clocks(o))
	}
	findings = append(findings, schema(o), clocks(o))
	if o.Schema != nil || o.SchemaVersion < o.SchemaWanted {
		return findings
	}
	keyset := finding{name: "keyset"}
	if o.Keyset != nil {
		keyset.wrong, keyset.todo = "secrets in the database do not decrypt with SECRETS_KEYSET", "Give this process the keyset that the others have, with all its older keys."
	}
	return append(findings, keyset, outbox(o))
}

func unreachable(name string, err error, todo string) finding {
	if err == nil {
		return finding{name: name}
	}
	return finding{name: name, wrong: "cannot be reached: " + err.Error(), todo: todo}
}

func schema(o wire.Outside) finding {
	switch {
	case o.Schema != nil:
		return finding{"migrations", "the schema's version cannot be read: " + o.Schema.Error(), "Check that the user of DATABASE_URL may read its tables."}
	case o.SchemaVersion < o.SchemaWanted:
		return finding{"migrations", fmt.Sprintf("the schema is at version %d, this binary needs %d", o.SchemaVersion, o.SchemaWanted), "Run `admin migrate up`."}
	}
	return finding{name: "migrations"}
}

func clocks(o wire.Outside) finding {
	for _, other := range []struct {
		name  string
		ahead time.Duration
	}{{"Postgres", o.PostgresClock}, {"Redis", o.RedisClock}} {
		if other.ahead.Abs() > clockTolerance {
			return finding{"clock", fmt.Sprintf("the clock of %s is %s ahead of ours", other.name, other.ahead.Round(time.Second)), "Synchronise the clocks (NTP): signatures and expiry depend on them."}
		}
	}
	return finding{name: "clock"}
}

func outbox(o wire.Outside) finding {
	switch {
	case o.Backlogged != nil:
		return finding{"outbox", "cannot be counted: " + o.Backlogged.Error(), "Look at the load of the database."}
	case o.Backlog.OutboxOldestAge > outboxLag:
		return finding{"outbox", fmt.Sprintf("%d events wait, the oldest for %s", o.Backlog.OutboxPending, o.Backlog.OutboxOldestAge.Round(time.Second)), "Is a dispatcher running? Look at its /readyz and its log."}
	case o.Backlog.OldestDueAge > dueLag:
		return finding{"outbox", "deliveries are due for " + o.Backlog.OldestDueAge.Round(time.Second).String(), "Start more dispatchers, or look for one that is stuck."}
	}
	return finding{name: "outbox"}
}
