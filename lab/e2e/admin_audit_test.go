package e2e_test

import (
	"bufio"
	"encoding/json"
	"os"
	"os/exec"
	"strings"
	"syscall"
	"testing"

	"github.com/stretchr/testify/require"
)

// audited makes a world with entries of the audit log on 1 August 2026, several pages, and more than a pipe holds.
func audited(t testing.TB, entries int) *deployment {
	t.Helper()
	w := newWorld(t)
	_, err := w.database(t).Exec(t.Context(), `INSERT INTO audit_log (id, at, actor, action, subject, detail)
		SELECT gen_random_uuid(), '2026-08-01T00:00:00Z'::timestamptz + i * interval '1 millisecond', 'scheduler', 'test',
		i::text, '{"note": "a line of\nwords"}' FROM generate_series(0, $1::int - 1) i`, entries)
	require.NoError(t, err)
	return w
}

func TestAdmin_AuditExport_PrintsALineForEachEntryOfTheTime(t *testing.T) {
	t.Parallel()
	const entries = 2_500
	w := audited(t, entries)
	code, stdout, stderr := run(t, w.environ, "admin", "audit", "export", "--from", "2026-08-01", "--to", "2026-08-02")
	require.Zero(t, code, stderr)
	require.True(t, strings.HasSuffix(stderr, "2500 of 2500 entries (100 %)\n"), stderr)
	lines := strings.Split(strings.TrimSuffix(stdout, "\n"), "\n")
	require.Len(t, lines, entries)
	require.Regexp(t, `^{"id":"aud_[0-9a-z]{26}","at":"2026-08-01T00:00:00.007Z","actor":"scheduler","action":"test",`+
		`"subject":"7","requestId":null,"detail":{"note":"a line of\\nwords"}}$`, lines[7])

	exit, second, _ := run(t, w.environ, "admin", "audit", "export", "--json", "--from", "2026-08-01T00:00:01Z",
		"--to", "2026-08-01T02:00:02+02:00")
	require.Zero(t, exit)
	require.Equal(t, strings.Join(lines[1_000:2_000], "\n")+"\n", second, "the second from 1 on and before 2")
	exit, none, stderr := run(t, w.environ, "admin", "audit", "export", "--from", "2026-07-31", "--to", "2026-08-01")
	require.Equal(t, []any{0, "", "0 entries\n"}, []any{exit, none, stderr})

	// the entries that the world made itself
	exit, today, stderr := run(t, w.environ, "admin", "audit", "export", "--from", "2026-08-02", "--to", "2100-01-01")
	require.Zero(t, exit, stderr)
	require.Contains(t, stderr, "further entries may join it")
	require.Contains(t, today, `"action":"partner.create"`)
	for _, secret := range []string{w.apiKey, w.connectSecret} {
		require.NotContains(t, today, secret)
	}
}

// exporting starts an export into a pipe and reads its first line.
func (w *deployment) exporting(t testing.TB, args ...string) (*exec.Cmd, *os.File, *strings.Builder) {
	t.Helper()
	pipe, write, err := os.Pipe()
	require.NoError(t, err)
	t.Cleanup(func() { _ = pipe.Close() })
	command, stderr := exec.Command(binary(t, "admin"), //nolint:gosec // built by the test
		append([]string{"audit", "export", "--from", "2026-08-01", "--to", "2026-08-02"}, args...)...), &strings.Builder{}
	command.Env, command.Stdout, command.Stderr = w.environ, write, stderr
	require.NoError(t, command.Start())
	require.NoError(t, write.Close())
	line, err := bufio.NewReaderSize(pipe, 16).ReadString('\n')
	require.NoError(t, err)
	require.True(t, json.Valid([]byte(line)), line)
	return command, pipe, stderr
}

// exitCode waits for the end of a command.
func exitCode(t testing.TB, command *exec.Cmd) int {
	t.Helper()
	require.Error(t, command.Wait())
	return command.ProcessState.ExitCode()
}

func TestAdmin_AuditExport_IntoAClosedPipe_SaysThatLinesAreMissing(t *testing.T) {
	t.Parallel()
	command, pipe, stderr := audited(t, 2_500).exporting(t, "--json")
	require.NoError(t, pipe.Close())
	require.Equal(t, 1, exitCode(t, command))
	require.Contains(t, refusal(t, stderr.String()), "export_incomplete: the export is incomplete: at least 0 entries")
	require.Contains(t, stderr.String(), "broken pipe")
}

// Nobody reads the pipe, so the command waits for its write.
func TestAdmin_AuditExport_Interrupted_SaysThatLinesAreMissing(t *testing.T) {
	t.Parallel()
	command, _, stderr := audited(t, 2_500).exporting(t)
	require.NoError(t, command.Process.Signal(syscall.SIGINT))
	require.Equal(t, 130, exitCode(t, command))
	require.Equal(t, "interrupted; the export is incomplete: at least 0 entries were written\n", stderr.String())
}
