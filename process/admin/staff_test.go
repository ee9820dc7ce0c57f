package admin

import (
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/lab/checkouttest"
	"partnerdeposits/lab/procs"
	"partnerdeposits/lab/servicetest"
)

// asCommand is the variable by which a test runs this program as the command, with its arguments.
const asCommand = "RUN_AS_ADMIN"

func TestMain(m *testing.M) {
	if os.Getenv(asCommand) != "" {
		os.Exit(Main())
	}
	servicetest.RunTests(m)
}

// Waits of these tests, generous for a busy machine.
const (
	soon  = servicetest.MaxWait
	often = 5 * time.Millisecond
)

// nobody ends the ids of things that do not exist.
var nobody = "_" + strings.Repeat("0", 25) + "1"

// staff runs command lines in the process of the test, over the database of a bench. The bench has a partner demo, to
// which an account is linked as ext-1.
type staff struct {
	checkouttest.Steps
	environ []string
}

func newStaff(t *testing.T) *staff {
	t.Helper()
	s := &staff{Steps: checkouttest.NewSteps(t)}
	s.Clock.Set(time.Now()) // as that of the commands
	s.environ = environOf(s.Pool.Config().ConnString())
	return s
}

// environOf is the environment of commands on a database. Neither Redis nor a process is there.
func environOf(databaseURL string, more ...string) []string {
	return append([]string{"DATABASE_URL=" + databaseURL, "REDIS_URL=redis://127.0.0.1:1/0",
		"METRICS_ADDR=127.0.0.1:1"}, more...)
}

// ran is a command line that has ended.
type ran struct {
	exit           int
	stdout, stderr string
}

func runLine(t *testing.T, args ...string) ran {
	t.Helper()
	return runWith(t.Context(), nil, args...)
}

func runWith(ctx context.Context, environ []string, args ...string) ran {
	var out, errs procs.OutputBuffer
	exit := execute(ctx, args, environ, streams{strings.NewReader(""), &out, &errs})
	return ran{exit, out.String(), errs.String()}
}

func (s *staff) run(args ...string) ran { return runWith(s.Ctx(), s.environ, args...) }

// must runs a command that succeeds, and reads the object that it prints.
func (s *staff) must(into any, args ...string) {
	s.T.Helper()
	got := s.run(append(args, "--json")...)
	require.Zero(s.T, got.exit, "%v: %s", args, got.stderr)
	require.NoError(s.T, json.Unmarshal([]byte(got.stdout), into), got.stdout)
}

// refused runs a command that prints an error alone, whose code and message begin with want.
func (s *staff) refused(want string, args ...string) {
	s.T.Helper()
	got := s.run(append(args, "--json")...)
	code, _, _ := strings.Cut(want, ": ")
	require.Equal(s.T, map[bool]int{false: 1, true: 2}[code == codeUsage], got.exit, "%v: %s", args, got.stderr)
	require.Empty(s.T, got.stdout, args)
	require.True(s.T, strings.HasPrefix(refusal(s.T, got.stderr), want), "%v: %s", args, got.stderr)
}

// refusal gives the error that a command prints under --json, as "code: message".
func refusal(t testing.TB, stderr string) string {
	t.Helper()
	var printed struct {
		Error struct{ Code, Message string }
	}
	require.NoError(t, json.Unmarshal([]byte(stderr), &printed), stderr)
	require.NotEmpty(t, printed.Error.Code)
	require.NotEmpty(t, printed.Error.Message)
	return printed.Error.Code + ": " + printed.Error.Message
}

// begin runs a command until it ends or the function interrupted is called, as by Ctrl-C.
func (s *staff) begin(args ...string) (stderr *procs.OutputBuffer, interrupted func() (exit int)) {
	ctx, interrupt := context.WithCancel(s.Ctx())
	stderr = &procs.OutputBuffer{}
	ended := make(chan int, 1)
	go func() {
		ended <- execute(ctx, args, s.environ, streams{strings.NewReader(""), &procs.OutputBuffer{}, stderr})
	}()
	return stderr, func() int {
		interrupt()
		return <-ended
	}
}

// lockRow locks the row that a query finds, until unlock or the end of the test.
func (s *staff) lockRow(sql string, rowID id.ID) (unlock func()) {
	s.T.Helper()
	tx, err := s.Pool.Begin(s.Ctx())
	require.NoError(s.T, err)
	unlock = func() { _ = tx.Rollback(s.Ctx()) } // a second call finds it rolled back
	s.T.Cleanup(unlock)                          // after a failure too, since the pool waits for the connection
	_, err = tx.Exec(s.Ctx(), sql, rowID)
	require.NoError(s.T, err)
	return unlock
}

// awaitLock waits until a session of the database waits for a lock.
func (s *staff) awaitLock() {
	s.T.Helper()
	require.Eventually(s.T, func() bool {
		return s.Count("pg_stat_activity", "datname = current_database() AND wait_event_type = 'Lock'") == 1
	}, soon, often)
}

type auditEntries struct {
	Entries []struct{ Actor, Action, Subject string }
}

// actions counts the entries of staff about a subject, by action.
func (s *staff) actions(subject string) map[string]int {
	s.T.Helper()
	var log auditEntries
	s.must(&log, "audit", "show", subject)
	found := map[string]int{}
	for _, e := range log.Entries {
		if e.Actor == "admin" {
			found[e.Action]++
		}
	}
	return found
}
