package admin

import (
	"cmp"
	"errors"
	"fmt"
	"net/netip"
	"slices"
	"strings"
	"time"

	"partnerdeposits/process/config"
	"partnerdeposits/process/wire"
)

type doctorCommand struct {
	Process []string `help:"URL of the METRICS_ADDR of a running http or dispatcher, whose own checks are read too; may be repeated. Without it: the process at METRICS_ADDR of this machine, if there is one." placeholder:"URL"`
}

// Thresholds beyond which `admin doctor` reports a problem.
const (
	clockTolerance = 5 * time.Second
	outboxLag      = 30 * time.Second
	dueLag         = 2 * time.Minute
	// The least number of days ahead with partitions. The dispatcher creates 14.
	daysAhead = 3
)

// errUnwell sets the exit code after `admin doctor` has printed a problem.
var errUnwell = codedError{"unhealthy", errors.New("something is wrong; see above")}

// finding is the result of one check of `admin doctor`.
type finding struct {
	// The name of the check, the problem ("": none), and its remedy.
	name, problem, remedy string
	detail                string // The text printed for a healthy check in place of "ok".
}

func bad(name, problem, remedy string) finding {
	return finding{name: name, problem: problem, remedy: remedy}
}

// Run prints the finding of every check. Returns an error if any found a problem.
func (command doctorCommand) Run(c *call) error {
	cfg, err := c.config(config.RequiredForService)
	if err != nil {
		return err
	}
	diagnosis, err := wire.Diagnose(c.ctx, cfg, c.log, command.Process)
	if err != nil {
		return err
	}
	healthy := true
	var rows []fields
	for _, f := range slices.Concat(findings(diagnosis), []finding{paymentSettings(cfg)}, processes(diagnosis)) {
		healthy = healthy && f.problem == ""
		state := cmp.Or(f.problem, f.detail, "ok")
		rows = append(rows, fields{{"check", f.name}, {"ok", f.problem == ""}, {"finding", state}, {"todo", f.remedy}})
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

func findings(d wire.Diagnosis) []finding {
	list := []finding{
		database(d.Postgres),
		redis(d),
	}
	list = append(list, proxies(d))
	if d.Postgres != nil {
		if d.BehindUndeclaredPooler() {
			list[0] = bad("database", "a pooler drops the settings of connections",
				"Set DATABASE_POOLED=true behind PgBouncer in transaction mode.")
		}
		return append(list, clocks(d))
	}
	if d.Unfit != nil {
		list[0] = bad("database", d.Unfit.Error(), "Create such a database, and name it in DATABASE_URL.")
	}
	if d.Role != nil {
		list = append(list,
			bad("pooler", d.Role.Error(), "Run the statements as the owner of the role, then RECONNECT in PgBouncer's console."))
	}
	list = append(list, schema(d), clocks(d))
	if d.Schema != nil || d.SchemaVersion < d.SchemaWanted {
		return list
	}
	list = append(list, writes(d), idle(d))
	restored := finding{name: "restore"}
	if d.Restored != nil {
		restored.problem, restored.remedy = "the database was restored from a backup, or a standby was promoted",
			"Run `admin restore-finish`: Redis may remember answers whose effects are lost."
	}
	return append(list, restored, keysetFinding(d.Keyset), outbox(d), outbound(d), partitions(d))
}

func unreachable(name string, err error, remedy string) finding {
	if err == nil {
		return finding{name: name}
	}
	return finding{name: name, problem: "cannot be reached: " + err.Error(), remedy: remedy}
}

func redis(d wire.Diagnosis) finding {
	if d.Redis == nil && d.RedisPolicy != "" && d.RedisPolicy != "noeviction" {
		return bad("redis", "its maxmemory-policy is "+d.RedisPolicy+": it drops queued deliveries and counts when it is full",
			"Set `maxmemory-policy noeviction` in its configuration, and by `CONFIG SET maxmemory-policy noeviction` at once. A full Redis then refuses writes, which the service outlives.")
	}
	if d.Redis == nil || !d.RedisAnswers {
		return unreachable("redis", d.Redis,
			"Check REDIS_URL and that Redis runs. The service goes on without it, slower and without rate limits.")
	}
	return finding{
		name: "redis", problem: d.Redis.Error(),
		remedy: "Look at its memory (INFO memory), its disk (INFO persistence), its role (ROLE) and the masters of a cluster (CLUSTER NODES). Deliveries go out directly meanwhile.",
	}
}

func schema(d wire.Diagnosis) finding {
	switch {
	case errors.Is(d.Schema, wire.ErrSchemaRightsMissing):
		return bad("migrations", d.Schema.Error(), rightsRemedy)
	case d.Schema != nil:
		return bad("migrations", "the schema's version cannot be read: "+d.Schema.Error(),
			"Check that the user of DATABASE_URL may read its tables.")
	case d.SchemaVersion < d.SchemaWanted:
		return bad("migrations", fmt.Sprintf("the schema is at version %d, this binary needs %d", d.SchemaVersion,
			d.SchemaWanted), "Run `admin migrate up`.")
	}
	return finding{name: "migrations"}
}

// proxies returns the finding about proxies. A trusted proxy that sends both X-Real-IP and X-Forwarded-For is a
// problem, since clients may then choose their address. So is a private address that sends such a header and is
// missing in TRUSTED_PROXIES; a public one may be a client.
func proxies(d wire.Diagnosis) finding {
	var problems, remedies []string
	if d.ForwardedBoth.Peer != "" {
		problems = append(problems, d.ForwardedBoth.Peer+
			" sent both X-Real-IP and X-Forwarded-For: the client may have made one of them up, and so choose its address")
		remedies = append(remedies, "Name the header that the proxy sets in TRUSTED_PROXY_HEADER of every http.")
	}
	if d.Forwarded.Peer != "" {
		seen := fmt.Sprintf("%s sent %s and is not in TRUSTED_PROXIES", d.Forwarded.Peer, d.Forwarded.Header)
		addr, err := netip.ParseAddr(d.Forwarded.Peer)
		if err == nil && (addr.IsPrivate() || addr.IsLoopback()) {
			problems = append(problems, seen+": if it is a proxy, all its clients share one limit")
			seen = "Add the proxy to TRUSTED_PROXIES of every http"
		} else {
			seen += ". If it is your proxy, add it"
		}
		remedies = append(remedies, seen+", and name the header that it sets in TRUSTED_PROXY_HEADER.")
	}
	return bad("proxies", strings.Join(problems, "; "), strings.Join(remedies, " "))
}

func clocks(d wire.Diagnosis) finding {
	for _, other := range []struct {
		name  string
		ahead time.Duration
	}{{"Postgres", d.PostgresClock}, {"Redis", d.RedisClock}} {
		if other.ahead.Abs() > clockTolerance {
			return bad("clock", fmt.Sprintf("the clock of %s is %s ahead of ours", other.name, other.ahead.Round(time.Second)),
				"Synchronise the clocks (NTP): signatures and expiry depend on them.")
		}
	}
	return finding{name: "clock"}
}

func outbox(d wire.Diagnosis) finding {
	switch {
	case d.Backlogged != nil:
		return bad("outbox", "cannot be counted: "+d.Backlogged.Error(), "Look at the load of the database.")
	case d.Backlog.OutboxOldestAge > outboxLag:
		return bad("outbox", fmt.Sprintf("%d events wait, the oldest for %s", d.Backlog.OutboxPending,
			d.Backlog.OutboxOldestAge.Round(time.Second)), "Is a dispatcher running? Look at its /readyz and its log.")
	case d.Backlog.OutboxSetAside > 0:
		return bad("outbox", fmt.Sprintf("%d events could not be filed and are set aside", d.Backlog.OutboxSetAside),
			"See `admin outbox list`; mend the cause, then `admin outbox retry` or `admin outbox drop` each of them.")
	case d.Backlog.OldestDueAge > dueLag:
		return bad("outbox", "deliveries are due for "+d.Backlog.OldestDueAge.Round(time.Second).String(),
			"Start more dispatchers, or look for one that is stuck.")
	}
	return finding{name: "outbox"}
}

// outbound returns the finding about this service's internet connection.
func outbound(d wire.Diagnosis) finding {
	if d.Backlog.OutboundSince.IsZero() {
		return finding{name: "outbound"}
	}
	problem := fmt.Sprintf("most endpoints, of several partners, have got no connection since %s",
		d.Backlog.OutboundSince.UTC().Format(time.RFC3339))
	if age := d.Backlog.OldestHeldAge; age > 0 {
		problem += fmt.Sprintf("; deliveries wait, the oldest for %s", age.Round(time.Second))
	}
	return bad("outbound", problem,
		"Mend the way out of the dispatchers: DNS, firewall, network. Deliveries then flow again by themselves; `admin webhook probe --all` does not wait for the next probe.")
}

// partitions returns the finding about tables' partitions by day. Rows in a default partition alone are no problem,
// since a wrong clock may have dated them years ahead.
func partitions(d wire.Diagnosis) finding {
	p := d.Backlog.Partitions
	if d.Backlogged == nil && p.DaysAhead < daysAhead {
		return bad("partitions", fmt.Sprintf("events and attempts have partitions for %d days ahead; %d rows have none",
			p.DaysAhead, p.DefaultRows), "Is a dispatcher running? Look for the job \"partitions\" in its log.")
	}
	return finding{name: "partitions"}
}
