package admin

import (
	"cmp"
	"errors"
	"fmt"
	"strings"
	"time"

	"partnerdeposits/process/wire"
)

const roomRemedy = "Make room on the disk of Postgres: nothing is lost, and the processes go on by themselves."

const rightsRemedy = "Grant the rights to the role of DATABASE_URL, as the owner of the tables: GRANT … ON … TO …. `admin migrate up` creates the tables as its own role."

// wayIn is the advice for a Postgres without free connections.
const wayIn = "Enter by a connection that Postgres keeps back: `sudo -u postgres psql` on its machine, or psql and `admin doctor` with the DATABASE_URL of a superuser or of a member of pg_use_reserved_connections. There end sessions that need not be (runbook pool-saturated)."

// database returns the finding about connecting to Postgres. One whose disk is full answers "could not write init
// file".
func database(err error) finding {
	switch {
	case errors.Is(err, wire.ErrNoPostgresConnection):
		return bad("database", wire.NoConnectionText+": "+err.Error(), wayIn)
	case err != nil && strings.Contains(err.Error(), "could not write init file"):
		return unreachable("database", err, roomRemedy)
	}
	return unreachable("database", err,
		"Check DATABASE_URL, that Postgres runs, and that this machine may connect to it.")
}

// idle returns the finding about sessions that hold a transaction open without using it.
func idle(d wire.Diagnosis) finding {
	found, ends := sessions(d.Idle)
	if found == "" {
		return finding{name: "sessions"}
	}
	return bad("sessions", "transactions stand open and idle, which keeps vacuum from removing rows: "+found,
		"Let each client commit, or end its session: "+ends)
}

// sessions describes database sessions, and returns the SQL statements that end them.
func sessions(all []wire.BlockingSession) (told, ends string) {
	var holders, pids []string
	for _, b := range all {
		text := fmt.Sprintf("pid %d (%s, %s, open for %s", b.PID, b.Application, cmp.Or(b.State, "state unknown"),
			b.Open.Round(time.Second))
		if b.Waiting > 0 {
			text += fmt.Sprintf(", %d waiting", b.Waiting)
		}
		holders = append(holders, text+"): "+b.Query)
		pids = append(pids, fmt.Sprintf("SELECT pg_terminate_backend(%d);", b.PID))
	}
	return strings.Join(holders, "; "), strings.Join(pids, " ")
}

// writes returns the finding about writing to Postgres. Sessions that hold locks are a problem even if the trial
// write succeeded.
func writes(d wire.Diagnosis) finding {
	holders, ends := sessions(d.Blockers)
	switch {
	case holders != "":
		return bad("writes", "changes wait for locks of "+holders, "Let the session end, or end it: "+ends)
	case errors.Is(d.Writes, wire.ErrPostgresLocked):
		return bad("writes", d.Writes.Error(), "Find the session with pg_blocking_pids (runbook api-errors), and end it.")
	case errors.Is(d.Writes, wire.ErrPostgresDiskFull):
		return bad("writes", d.Writes.Error(), roomRemedy)
	case errors.Is(d.Writes, wire.ErrPostgresReadOnly):
		return bad("writes", d.Writes.Error(),
			"Name the primary in DATABASE_URL, or end the read-only state: many hosts set it when the disk is nearly full.")
	case errors.Is(d.Writes, wire.ErrPostgresRightsMissing):
		return bad("writes", d.Writes.Error(), rightsRemedy)
	case errors.Is(d.Writes, wire.ErrStandbyNotConfirming):
		return bad("writes", d.Writes.Error(),
			"Bring a standby of synchronous_standby_names back, or set it to '' on the primary (ALTER SYSTEM, pg_reload_conf), which risks commits that no standby has. What was answered with 503 meanwhile is in the database.")
	case d.Writes != nil:
		return bad("writes", "a change fails: "+d.Writes.Error(), "Look into the log of Postgres.")
	}
	return finding{name: "writes"}
}
