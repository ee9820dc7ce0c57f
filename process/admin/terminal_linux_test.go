package admin

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/creack/pty"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/procs"
)

// terminal is the screen and the keyboard before which a person sits.
type terminal struct {
	t      *testing.T
	keys   *os.File
	tty    *os.File // the end of the command
	screen procs.OutputBuffer
	shown  chan struct{} // closed when the screen is whole
	ended  chan int
}

func newTerminal(t *testing.T) *terminal {
	t.Helper()
	term := &terminal{t: t, shown: make(chan struct{}), ended: make(chan int, 1)}
	var err error
	term.keys, term.tty, err = pty.Open()
	require.NoError(t, err)
	require.NoError(t, pty.Setsize(term.tty, &pty.Winsize{Rows: 40, Cols: 200}))
	go func() {
		defer close(term.shown)
		_, _ = io.Copy(&term.screen, term.keys) // ends with an error when nobody holds the other end
	}()
	t.Cleanup(func() {
		_ = term.tty.Close()
		<-term.shown
		_ = term.keys.Close()
	})
	return term
}

// onTerminal begins a command that a person sees and answers, in the process of the test.
func (s *staff) onTerminal(args ...string) *terminal {
	s.T.Helper()
	term := newTerminal(s.T)
	go func() { term.ended <- execute(s.Ctx(), args, s.environ, streams{term.tty, term.tty, term.tty}) }()
	return term
}

// asProcess begins a program on the terminal: signals of the keyboard reach it.
func asProcess(t *testing.T, environ []string, argv ...string) *terminal {
	t.Helper()
	term := newTerminal(t)
	cmd := exec.Command(argv[0], argv[1:]...) //nolint:gosec // this program
	cmd.Env = append([]string{asCommand + "=1", "PATH=" + os.Getenv("PATH"), "TERM=xterm"}, environ...)
	cmd.Stdin, cmd.Stdout, cmd.Stderr = term.tty, term.tty, term.tty
	cmd.SysProcAttr = &syscall.SysProcAttr{Setsid: true, Setctty: true} // of its standard input
	require.NoError(t, cmd.Start())
	t.Cleanup(func() { _ = cmd.Process.Kill() })
	go func() {
		_ = cmd.Wait() // the exit code is in ProcessState
		term.ended <- cmd.ProcessState.ExitCode()
	}()
	return term
}

func (term *terminal) text() string { return strings.ReplaceAll(term.screen.String(), "\r\n", "\n") }

func (term *terminal) await(text string) *terminal {
	term.t.Helper()
	require.Eventually(term.t, func() bool { return strings.Contains(term.text(), text) }, soon, often, "%s: %s", text,
		&term.screen)
	return term
}

func (term *terminal) types(keys string) *terminal {
	term.t.Helper()
	_, err := io.WriteString(term.keys, keys)
	require.NoError(term.t, err)
	return term
}

// ends waits for the end of the command, and gives the screen.
func (term *terminal) ends(exit int, more ...any) string {
	term.t.Helper()
	require.Equal(term.t, exit, <-term.ended, append([]any{term.text()}, more...)...)
	require.NoError(term.t, term.tty.Close())
	<-term.shown
	return term.text()
}

const (
	ctrlC     = "\x03"
	endOfFile = "\x04"
	question  = "This cannot be undone. Go on? [y/N]"
)

func TestOnATerminal_AsksBeforeWhatCannotBeUndone(t *testing.T) {
	s := newStaff(t)
	var key struct{ ID string }
	s.must(&key, "key", "create", "demo", "--name", "second")
	revoked := func() bool { return s.Count("api_keys", "revoked_at IS NOT NULL") == 1 }
	for _, answer := range []string{"\n", "n\n", endOfFile} {
		s.onTerminal("key", "revoke", key.ID).await(question).types(answer).ends(1, answer)
		require.False(t, revoked(), "%q", answer)
	}
	s.onTerminal("key", "revoke", key.ID).await(question).types("y\n").ends(0)
	require.True(t, revoked())
	for _, args := range [][]string{
		{"connect-secret", "rotate", "demo"}, {"connect-secret", "clear", "demo"},
		{"link", "revoke", "demo", "acct" + nobody}, {"outbox", "drop", "evt_x"}, {"restore-finish"},
		{"client", "erase", "cli" + nobody}, {"client", "erase-text", "cli" + nobody},
		{"deposit", "erase-text", "dep" + nobody},
	} {
		screen := s.onTerminal(args...).await(question).types("n\n").ends(1, args)
		require.Contains(t, screen, "nothing was changed")
	}
	require.NotContains(t, s.onTerminal("connect-secret", "clear", "demo", "--yes").ends(0), "[y/N]")
}

// Stdin of a command in a loop is the input of the loop (ADR 0017).
func TestAPipedAnswer_IsLeftToTheScript(t *testing.T) {
	s := newStaff(t)
	var key struct{ ID string }
	s.must(&key, "key", "create", "demo", "--name", "second")
	term, rest := newTerminal(t), strings.NewReader("n\nkey_1\n")
	require.Zero(t, execute(t.Context(), []string{"key", "revoke", key.ID}, s.environ, streams{rest, term.tty, term.tty}))
	require.NotContains(t, term.await("Nobody is asked").text(), "[y/N]")
	require.Equal(t, len("n\nkey_1\n"), rest.Len(), "nothing is read away")
	require.Equal(t, 1, s.Count("api_keys", "revoked_at IS NOT NULL"))
	got := s.run("connect-secret", "rotate", "demo")
	require.Zero(t, got.exit)
	require.Empty(t, got.stderr, "a script reads no hint")
}

func TestOnATerminal_SpeaksToPeople(t *testing.T) {
	s := newStaff(t)
	screen := s.onTerminal("partner", "list").ends(0)
	require.Contains(t, screen, "CREATED AT")
	require.Regexp(t, `\d\d:\d\d:\d\d \S+ \((now|\d+ (s|min|days) ago)\)`, screen)
	require.Regexp(t, `"createdAt":"\d{4}-\d\d-\d\dT[0-9:.]+Z"`, s.onTerminal("partner", "list", "--json").ends(0))
	require.Regexp(t, `\d{4}-\d\d-\d\dT[0-9:.]+Z`, s.run("partner", "list").stdout, "a pipe gets the API's form")
}

// A key of the keyboard is a signal to the process. It ends the statement in the server too.
func TestCtrlC_EndsAMigration_WhichGoesOnWhenItRunsAgain(t *testing.T) {
	t.Parallel()
	databaseURL, conn := emptyDatabase(t)
	reader, err := pgx.Connect(t.Context(), databaseURL)
	require.NoError(t, err)
	// CREATE INDEX CONCURRENTLY waits for this snapshot
	_, err = reader.Exec(t.Context(), `BEGIN ISOLATION LEVEL REPEATABLE READ; SELECT count(*) FROM pg_class`)
	require.NoError(t, err)
	self, err := os.Executable()
	require.NoError(t, err)
	term := asProcess(t, environOf(databaseURL), self, "migrate", "up").await("index deliveries_failed").types(ctrlC)
	require.Contains(t, term.ends(130), "goes on with the migration that was interrupted")
	require.NoError(t, reader.Close(t.Context()))
	requireInterruptedMigrationGoesOn(t, databaseURL, conn)
}

func TestCtrlC_BeforeAnAnswer_ChangesNothing(t *testing.T) {
	s := newStaff(t)
	self, err := os.Executable()
	require.NoError(t, err)
	asProcess(t, s.environ, self, "restore-finish").await(question).types(ctrlC).ends(130)
	require.Zero(t, s.Count("audit_log", "action LIKE 'restore%'"))
}

// The script of each shell that is here completes commands, flags and closed lists of values.
func TestCompletion_InAShell(t *testing.T) {
	t.Parallel()
	for _, shell := range []string{"zsh", "fish"} {
		require.Contains(t, runLine(t, "completion", shell).stdout, "__complete")
	}
	self, err := os.Executable()
	require.NoError(t, err)
	dir := t.TempDir()
	command := "#!/bin/sh\n" + asCommand + "=1 exec " + self + " \"$@\"\n"
	require.NoError(t, os.WriteFile(filepath.Join(dir, "admin"), []byte(command), 0o700))
	script := runLine(t, "completion", "bash").stdout
	for line, want := range map[string]string{
		"conn":                        "connect-secret connect-url",
		"key revoke --i":              "--id",
		"webhook replay --status ":    "pending retrying succeeded failed",
		"completion z":                "zsh",
		"client e":                    "erase erase-text",
		"client erase --id cli_1 --i": "--id", // may be repeated
	} {
		cmd := exec.CommandContext(t.Context(), "bash", "-c", script+`
			COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _admin; echo "${COMPREPLY[*]}"`, "bash", "admin")
		cmd.Args = append(cmd.Args, strings.Split(line, " ")...)
		cmd.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH")}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		require.Equal(t, want, strings.TrimSpace(string(out)), line)
	}
}
