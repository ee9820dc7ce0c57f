//go:build long

package e2e_test

import (
	"context"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/docstest"
	"partnerdeposits/lab/pgtest"
)

// runbook is a page of docs/runbooks with the fault that it is for.
type runbook struct {
	page  string // without directory and ending
	fires []string
	begin func(x *watched) (given map[string]string) // more variables for the page's commands
	of    watchedOf                                  // its environ and second
}

// runbookPatience bounds the wait for the documented output of a command, and for an alert. A mail waits five minutes
// for its third attempt.
const runbookPatience = 7 * time.Minute

// order is a request to the supervisor of the test: start or restart a part of the service, or print its log.
type order struct {
	verb, part string
	answer     chan string
}

// TestLong_Runbooks follows runbooks on real processes with the fault that it is for: the commands of Check, Fix and
// Verify, as they are written and in their order. Each has an installation of its own, and mostly waits: -parallel
// tells how many run beside each other.
func TestLong_Runbooks(t *testing.T) {
	debian(t, "pg_dump") // comes with psql
	followed := map[string]bool{}
	var pages, ran atomic.Int64
	for _, book := range runbooks(t) {
		followed[book.page] = true
		t.Run(book.page, func(t *testing.T) {
			t.Parallel()
			ran.Add(int64(book.follow(t)))
			pages.Add(1)
		})
	}
	t.Cleanup(func() { t.Logf("figure: %d runbooks followed, %d commands", pages.Load(), ran.Load()) })
	paths, err := filepath.Glob(filepath.Join(docstest.RepositoryRoot(), "docs/runbooks/*.md"))
	require.NoError(t, err)
	for _, path := range paths {
		name := strings.TrimSuffix(filepath.Base(path), ".md")
		says := strings.Contains(docstest.ReadFile(t, "docs/runbooks/"+name+".md"),
			"Followed by: `make test-long`, `TestLong_Runbooks/"+name+"`.")
		require.Equal(t, followed[name], says, "%s names the test that follows it", name)
	}
}

// follow gives the number of commands that were run.
func (b runbook) follow(t *testing.T) (ran int) {
	text := docstest.ReadFile(t, "docs/runbooks/"+b.page+".md")
	b.of.rules, b.of.pager = fasterRules(t), atOnce
	x := newWatched(t, b.of)
	x.load()
	began := time.Now()
	given := b.begin(x)
	x.pager.await(t, "firing", runbookPatience, b.fires...)
	fired := time.Now()
	s := newRunbookShell(x, given)
	for _, part := range []string{"Check", "Fix", "Verify"} {
		commands := commandsOfPart(t, b.page, text, part)
		for _, command := range commands {
			s.follow(t, part, command)
		}
		ran += len(commands)
	}
	verified := time.Now()
	x.pager.await(t, "resolved", runbookPatience, b.fires...)
	t.Logf("%s: %s fired after %.0f s; %d commands took %.0f s; it ended %.0f s after Verify", b.page,
		strings.Join(b.fires, ", "),
		fired.Sub(began).Seconds(), ran, verified.Sub(fired).Seconds(), time.Since(verified).Seconds())
	return ran
}

// commandsOfPart gives the commands in the sh blocks of a part of a runbook. Each part has some.
func commandsOfPart(t *testing.T, page, text, part string) (commands []string) {
	t.Helper()
	_, section, there := strings.Cut(text, "## "+part+"\n")
	require.True(t, there, "%s has no %s", page, part)
	section, _, _ = strings.Cut(section, "\n## ")
	for _, c := range commandsOf(page, section) {
		if c.script {
			commands = append(commands, c.text)
		}
	}
	require.NotEmpty(t, commands, "%s: %s has no command", page, part)
	return commands
}

// runbookShell runs the commands of runbooks with the variables that docs/runbooks/README.md names.
type runbookShell struct {
	x       *watched
	environ []string
	orders  chan order
}

func newRunbookShell(x *watched, given map[string]string) *runbookShell {
	s := &runbookShell{x: x, orders: make(chan order)}
	supervisor := httptest.NewServer(http.HandlerFunc(s.supervise))
	x.t.Cleanup(supervisor.Close)
	s.environ = append(os.Environ(), x.environ...)
	s.environ = append(s.environ,
		"PATH="+filepath.Dir(binary(x.t, "admin"))+string(os.PathListSeparator)+os.Getenv("PATH"), "METRICS_ADDR="+x.http.ops,
		"HTTP=http://"+x.http.ops, "DISPATCHER=http://"+x.dispatch.ops, "PROMETHEUS="+string(x.prometheus),
		"API="+x.baseURL+"/api/partner/v1", "KEY="+x.apiKey,
		"START=curl -sS --fail-with-body "+supervisor.URL+"/start -d",
		"RESTART=curl -sS --fail-with-body "+supervisor.URL+"/restart -d",
		"MEND=curl -sS --fail-with-body "+supervisor.URL+"/mend -d",
		"LOGS=curl -sS --fail-with-body "+supervisor.URL+"/logs -d")
	for name, value := range given {
		s.environ = append(s.environ, name+"="+value)
	}
	return s
}

// supervise stands for the supervisor of an installation. The test obeys, on its own goroutine.
func (s *runbookShell) supervise(w http.ResponseWriter, r *http.Request) {
	part, err := io.ReadAll(r.Body)
	if err != nil {
		http.Error(w, err.Error(), http.StatusBadRequest)
		return
	}
	o := order{verb: strings.TrimPrefix(r.URL.Path, "/"), part: string(part), answer: make(chan string)}
	s.orders <- o
	_, _ = io.WriteString(w, <-o.answer) // curl tells when the answer is cut
}

func (s *runbookShell) obey(t *testing.T, o order) {
	t.Helper()
	defer close(o.answer)
	parts := map[string]*member{"http": s.x.http, "dispatcher": s.x.dispatch}
	switch m := parts[o.part]; {
	case o.verb == "start" && o.part == "postgres":
		require.NoError(t, s.x.postgres.Restart(context.Background()))
	case o.verb == "start" && o.part == "redis":
		require.NoError(t, s.x.redis.Restart(context.Background()))
	case o.verb == "start" && o.part == "mailserver":
		s.x.startMailServer()
	case o.verb == "mend" && o.part == "books":
		s.x.sql(`UPDATE sandbox_payments SET amount_cents = 12050 WHERE amount_cents = 12049`)
	case o.verb == "mend" && o.part == "traffic":
		s.x.silence.Store(false)
	case o.verb == "mend" && o.part == "outbound":
		s.x.cut.mends(t)
	case o.verb == "mend" && o.part == "log":
		s.x.readLog()
	case o.verb == "mend" && o.part == "clock":
		pgtest.SkewDatabaseClock(t, s.x.database, 0)
	case m == nil:
		require.Fail(t, "no such part", "%s %s", o.verb, o.part)
	case o.verb == "logs":
		o.answer <- m.log.String()
	case o.verb == "start":
		m.again(t)
	default:
		m.end()
		m.again(t)
	}
}

// end stops a process as a supervisor does: SIGTERM, and SIGKILL for a process that does not end.
func (m *member) end() {
	const grace = 10 * time.Second
	_ = m.Stop(grace) // the exit code is none of the supervisor's business
}

var shows = regexp.MustCompile(`# shows (.+)$`)

// follow runs a command until it shows the text in its comment. A command of Check or Verify has such a comment; a
// command of Fix must succeed the first time.
func (s *runbookShell) follow(t *testing.T, part, command string) {
	t.Helper()
	want := shows.FindStringSubmatch(command)
	if part == "Fix" {
		out, err := s.run(t, command)
		require.NoError(t, err, "%s\n%s", command, out)
		if want != nil {
			require.Contains(t, out, want[1], command)
		}
		t.Logf("%s: %s\n%s", part, command, tail(out))
		return
	}
	require.NotNil(t, want, "a command of %s tells what it shows: %s", part, command)
	var out string
	require.Eventually(t, func() bool {
		out, _ = s.run(t, command) // admin doctor fails when it finds a fault
		return strings.Contains(out, want[1])
	}, runbookPatience, 500*time.Millisecond, "%s: %s\n%s", part, command, lazy(func() string { return out }))
	t.Logf("%s: %s\n%s", part, command, tail(out))
}

// run runs a command, and obeys the orders that it gives to the supervisor.
func (s *runbookShell) run(t *testing.T, command string) (string, error) {
	ctx, cancel := context.WithTimeout(context.Background(), runbookPatience)
	defer cancel()
	cmd := exec.CommandContext(ctx, "bash", "-o", "pipefail", "-c", command)
	cmd.Env, cmd.Dir = s.environ, s.x.t.TempDir()
	type result struct {
		out []byte
		err error
	}
	ended := make(chan result, 1)
	go func() {
		out, err := cmd.CombinedOutput()
		ended <- result{out, err}
	}()
	for {
		select {
		case o := <-s.orders:
			s.obey(t, o)
		case r := <-ended:
			if r.err != nil {
				r.err = fmt.Errorf("%s: %w", command, r.err)
			}
			return string(r.out), r.err
		}
	}
}

// tail is the end of a text.
func tail(s string) string {
	const most = 8 << 10
	if len(s) > most {
		return "…" + s[len(s)-most:]
	}
	return s
}
