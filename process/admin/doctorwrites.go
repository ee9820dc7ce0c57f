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

// databaseRemedy gives the remedy for a Postgres that takes no connection. A wrong address is the usual cause; a
// Postgres whose disk is full answers a new connection with the error "could not write init file".
func databaseRemedy(err error) string {
	if err != nil && strings.Contains(err.Error(), "could not write init file") {
		return roomRemedy
	}
	return "Check DATABASE_URL, that Postgres runs, and that this machine may connect to it."
}

// writes is the finding about writes to a Postgres that answers. Sessions that hold locks are a problem even where the
// tried write passed, since others may wait for a row that the try does not touch.
func writes(d wire.Diagnosis) finding {
	var holders, pids []string
	for _, b := range d.Blockers {
		holders = append(holders, fmt.Sprintf("pid %d (%s, %s, open for %s, %d waiting): %s",
			b.PID, b.Application, cmp.Or(b.State, "state unknown"), b.Open.Round(time.Second), b.Waiting, b.Query))
		pids = append(pids, fmt.Sprintf("SELECT pg_terminate_backend(%d);", b.PID))
	}
	switch {
	case len(holders) > 0:
		return bad("writes", "changes wait for locks of "+strings.Join(holders, "; "),
			"Let the session end, or end it: "+strings.Join(pids, " "))
	case errors.Is(d.Writes, wire.ErrLocked):
		return bad("writes", d.Writes.Error(), "Find the session with pg_blocking_pids (runbook api-errors), and end it.")
	case errors.Is(d.Writes, wire.ErrNoRoom):
		return bad("writes", d.Writes.Error(), roomRemedy)
	case errors.Is(d.Writes, wire.ErrReadOnly):
		return bad("writes", d.Writes.Error(),
			"Name the primary in DATABASE_URL, or end the read-only state: many hosts set it when the disk is nearly full.")
	case errors.Is(d.Writes, wire.ErrNoRights):
		return bad("writes", d.Writes.Error(), rightsRemedy)
	case errors.Is(d.Writes, wire.ErrNoStandby):
		return bad("writes", d.Writes.Error(),
			"Bring a standby of synchronous_standby_names back, or set it to '' on the primary (ALTER SYSTEM, pg_reload_conf), which risks commits that no standby has. What was answered with 503 meanwhile is in the database.")
	case d.Writes != nil:
		return bad("writes", "a change fails: "+d.Writes.Error(), "Look into the log of Postgres.")
	}
	return finding{name: "writes"}
}
