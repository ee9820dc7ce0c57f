//go:build linux

package e2e_test

import (
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/creack/pty"
	"github.com/stretchr/testify/require"
)

// terminal is an admin command on a pseudo terminal.
type terminal struct {
	cmd  *exec.Cmd
	tty  *os.File // keyboard and screen
	done chan struct{}

	mu   sync.Mutex
	text strings.Builder
}

// onTerminal starts an admin command that a person sees and answers.
func onTerminal(t testing.TB, environ []string, args ...string) *terminal {
	t.Helper()
	return startOnTerminal(t, environ, exec.Command(binary(t, "admin"), args...))
}

func startOnTerminal(t testing.TB, environ []string, cmd *exec.Cmd) *terminal {
	t.Helper()
	term := &terminal{cmd: cmd, done: make(chan struct{})}
	term.cmd.Env = append([]string{"PATH=" + os.Getenv("PATH"), "TERM=xterm", "TZ=UTC"}, environ...)
	tty, err := pty.StartWithSize(term.cmd, &pty.Winsize{Rows: 40, Cols: 200})
	require.NoError(t, err)
	term.tty = tty
	go func() {
		chunk := make([]byte, 4096)
		for {
			n, err := tty.Read(chunk) // ends with an error when the command ends
			term.mu.Lock()
			term.text.Write(chunk[:n])
			term.mu.Unlock()
			if err != nil {
				break
			}
		}
		_ = term.cmd.Wait() // the exit code is in ProcessState
		close(term.done)
	}()
	t.Cleanup(func() {
		_ = term.cmd.Process.Kill()
		<-term.done
		_ = tty.Close()
	})
	return term
}

func (term *terminal) screen() string {
	term.mu.Lock()
	defer term.mu.Unlock()
	return strings.ReplaceAll(term.text.String(), "\r\n", "\n")
}

func (term *terminal) await(t testing.TB, text string) {
	t.Helper()
	require.Eventually(t, func() bool { return strings.Contains(term.screen(), text) }, soon, often, "screen: %s", text)
}

func (term *terminal) types(t testing.TB, keys string) {
	t.Helper()
	_, err := io.WriteString(term.tty, keys)
	require.NoError(t, err)
}

func (term *terminal) exitCode(t testing.TB) int {
	t.Helper()
	select {
	case <-term.done:
	case <-time.After(soon):
		require.FailNow(t, "the command does not end", term.screen())
	}
	return term.cmd.ProcessState.ExitCode()
}

const ctrlC = "\x03"

func TestAdmin_OnATerminal_AsksBeforeWhatCannotBeUndone(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var key struct{ ID string }
	w.admin(t, &key, "key", "create", "--partner", "acme", "--name", "second")
	revoked := func() bool {
		var keys struct{ Keys []struct{ RevokedAt *string } }
		w.admin(t, &keys, "key", "list", "--partner", "acme")
		return keys.Keys[0].RevokedAt != nil
	}
	for answer, exit := range map[string]int{"\n": 1, "n\n": 1, "\x04": 1, ctrlC: 130} {
		term := onTerminal(t, w.environ, "key", "revoke", "--id", key.ID)
		term.await(t, "This cannot be undone. Go on? [y/N]")
		term.types(t, answer)
		require.Equal(t, exit, term.exitCode(t), "%q: %s", answer, term.screen())
		require.False(t, revoked(), "%q", answer)
	}
	term := onTerminal(t, w.environ, "key", "revoke", "--id", key.ID)
	term.await(t, "[y/N]")
	term.types(t, "y\n")
	require.Zero(t, term.exitCode(t), term.screen())
	require.True(t, revoked())

	for _, args := range [][]string{
		{"connect-secret", "rotate", "--partner", "acme"}, {"connect-secret", "clear", "--partner", "acme"},
		{"link", "revoke", "--partner", "acme", "--account", "acct_" + strings.Repeat("0", 25) + "1"},
		{"outbox", "drop", "--id", "evt_x"}, {"restore-finish"},
		{"client", "erase", "--id", "cli_" + strings.Repeat("0", 25) + "1"},
		{"client", "erase-text", "--id", "cli_" + strings.Repeat("0", 25) + "1"},
		{"deposit", "erase-text", "--id", "dep_" + strings.Repeat("0", 25) + "1"},
	} {
		term := onTerminal(t, w.environ, args...)
		term.await(t, "[y/N]")
		term.types(t, "n\n")
		require.Equal(t, 1, term.exitCode(t), term.screen())
		require.Contains(t, term.screen(), "nothing was changed")
	}
	term = onTerminal(t, w.environ, "connect-secret", "clear", "--partner", "acme", "--yes")
	require.Zero(t, term.exitCode(t), term.screen())
	require.NotContains(t, term.screen(), "[y/N]")
}

// TestAdmin_APipedAnswer_IsLeftToTheScript: stdin of a command in a loop is the input of the loop (ADR 0017).
func TestAdmin_APipedAnswer_IsLeftToTheScript(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	var ids strings.Builder
	for _, name := range []string{"second", "third"} {
		var key struct{ ID string }
		w.admin(t, &key, "key", "create", "acme", "--name", name)
		ids.WriteString(key.ID + "\n")
	}
	list := filepath.Join(t.TempDir(), "ids")
	require.NoError(t, os.WriteFile(list, []byte(ids.String()), 0o600))
	const loop = `while read -r id; do "$0" key revoke "$id"; done <"$1"; echo n | "$0" connect-secret clear acme`
	term := startOnTerminal(t, w.environ, exec.Command("bash", "-c", loop, binary(t, "admin"), list))
	require.Zero(t, term.exitCode(t), term.screen())
	require.Equal(t, 3, strings.Count(term.screen(), "Nobody is asked"), term.screen())
	require.NotContains(t, term.screen(), "[y/N]")

	var shown struct {
		HasConnectSecret bool
		Keys             []struct{ Name, RevokedAt string }
	}
	w.admin(t, &shown, "partner", "show", "acme")
	require.False(t, shown.HasConnectSecret)
	revoked := 0
	for _, k := range shown.Keys {
		if k.RevokedAt != "" {
			revoked++
		}
	}
	require.Equal(t, 2, revoked, "no id is read away: %v", shown.Keys)
	code, _, stderr := run(t, w.environ, "admin", "connect-secret", "rotate", "acme")
	require.Zero(t, code)
	require.Empty(t, stderr, "a script reads no hint")
}

func TestAdmin_OnATerminal_SpeaksToPeople(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	term := onTerminal(t, w.environ, "partner", "list")
	require.Zero(t, term.exitCode(t), term.screen())
	require.Contains(t, term.screen(), "CREATED AT")
	require.Regexp(t, `\d\d:\d\d:\d\d UTC \((now|\d+ (s|min) ago)\)`, term.screen())
	term = onTerminal(t, w.environ, "partner", "list", "--json")
	require.Zero(t, term.exitCode(t), term.screen())
	require.Regexp(t, `"createdAt":"\d{4}-\d\d-\d\dT[0-9:.]+Z"`, term.screen())
	code, stdout, stderr := run(t, w.environ, "admin", "partner", "list")
	require.Zero(t, code, stderr)
	require.Regexp(t, `\d{4}-\d\d-\d\dT[0-9:.]+Z`, stdout, "a pipe gets the API's form")
}

// The script of each shell that is here completes commands, flags and closed lists of values.
func TestAdmin_CompletesInShells(t *testing.T) {
	t.Parallel()
	dir := filepath.Dir(binary(t, "admin"))
	for _, shell := range []string{"bash", "zsh", "fish"} {
		code, script, stderr := run(t, nil, "admin", "completion", shell)
		require.Zero(t, code, stderr)
		require.Contains(t, script, "__complete")
	}
	_, script, _ := run(t, nil, "admin", "completion", "bash")
	complete := func(words ...string) string {
		t.Helper()
		cmd := exec.CommandContext(t.Context(), "bash", "-c", script+`
			COMP_WORDS=("$@"); COMP_CWORD=$(($# - 1)); _admin; echo "${COMPREPLY[*]}"`, "bash", "admin")
		cmd.Args = append(cmd.Args, words...)
		cmd.Env = []string{"PATH=" + dir + ":" + os.Getenv("PATH")}
		out, err := cmd.CombinedOutput()
		require.NoError(t, err, string(out))
		return strings.TrimSpace(string(out))
	}
	require.Equal(t, "connect-secret connect-url", complete("connect"[:4]))
	require.Equal(t, "revoke", complete("key", "r"))
	require.Equal(t, "--id", complete("key", "revoke", "--i"))
	require.Equal(t, "pending retrying succeeded failed", complete("webhook", "replay", "--status", ""))
	require.Equal(t, "zsh", complete("completion", "z"))
	require.Equal(t, "erase erase-text", complete("client", "e"))
	require.Equal(t, "--id", complete("client", "erase", "--id", "cli_1", "--i"), "the flag may be repeated")
}
