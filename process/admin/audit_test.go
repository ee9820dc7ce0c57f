package admin

import (
	"bufio"
	"context"
	"encoding/json"
	"os"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/procs"
)

// logged adds entries to the audit log, a millisecond apart from 1 August 2026 on: several pages, and more than a pipe
// holds.
func (s *staff) logged(entries int) {
	s.T.Helper()
	_, err := s.Pool.Exec(s.Ctx(), `INSERT INTO audit_log (id, at, actor, action, subject, detail)
		SELECT gen_random_uuid(), '2026-08-01T00:00:00Z'::timestamptz + i * interval '1 millisecond', 'scheduler', 'test',
		i::text, '{"note": "a line of\nwords"}' FROM generate_series(0, $1::int - 1) i`, entries)
	require.NoError(s.T, err)
}

func TestAuditExport_PrintsALineForEachEntryOfTheTime(t *testing.T) {
	s := newStaff(t)
	const entries = 2_500
	s.logged(entries)
	whole := s.run("audit", "export", "--from", "2026-08-01", "--to", "2026-08-02")
	require.Zero(t, whole.exit, whole.stderr)
	require.True(t, strings.HasSuffix(whole.stderr, "2500 of 2500 entries (100 %)\n"), whole.stderr)
	lines := strings.Split(strings.TrimSuffix(whole.stdout, "\n"), "\n")
	require.Len(t, lines, entries)
	require.Regexp(t, `^{"id":"aud_[0-9a-z]{26}","at":"2026-08-01T00:00:00.007Z","actor":"scheduler","action":"test",`+
		`"subject":"7","requestId":null,"detail":{"note":"a line of\\nwords"}}$`, lines[7])
	second := s.run("audit", "export", "--json", "--from", "2026-08-01T00:00:01Z", "--to", "2026-08-01T02:00:02+02:00")
	require.Equal(t, strings.Join(lines[1_000:2_000], "\n")+"\n", second.stdout, "the second from 1 on and before 2")
	require.Equal(t, ran{0, "", "0 entries\n"}, s.run("audit", "export", "--from", "2026-07-31", "--to", "2026-08-01"))

	var made struct{ ConnectSecret, APIKey string }
	s.must(&made, "partner", "create", "--slug", "acme", "--name", "Acme")
	today := s.run("audit", "export", "--from", "2026-08-02", "--to", "2100-01-01")
	require.Contains(t, today.stderr, "further entries may join it")
	require.Contains(t, today.stdout, `"action":"partner.create"`)
	for _, secret := range []string{made.ConnectSecret, made.APIKey} {
		require.NotContains(t, today.stdout, secret)
	}
}

// exporting begins an export into a pipe, and reads its first line.
func (s *staff) exporting(ctx context.Context, args ...string) (pipe *os.File, stderr *procs.OutputBuffer,
	exit <-chan int) {
	s.T.Helper()
	pipe, write, err := os.Pipe()
	require.NoError(s.T, err)
	s.T.Cleanup(func() { _ = pipe.Close() })
	stderr = &procs.OutputBuffer{}
	ended := make(chan int, 1)
	go func() {
		args = append([]string{"audit", "export", "--from", "2026-08-01", "--to", "2026-08-02"}, args...)
		ended <- execute(ctx, args, s.environ, streams{strings.NewReader(""), write, stderr})
	}()
	line, err := bufio.NewReaderSize(pipe, 16).ReadString('\n')
	require.NoError(s.T, err)
	require.True(s.T, json.Valid([]byte(line)), line)
	return pipe, stderr, ended
}

func TestAuditExport_IntoAClosedPipe_SaysThatLinesAreMissing(t *testing.T) {
	s := newStaff(t)
	s.logged(2_500)
	pipe, stderr, exit := s.exporting(s.Ctx(), "--json")
	require.NoError(t, pipe.Close())
	require.Equal(t, 1, <-exit)
	require.Contains(t, refusal(t, stderr.String()), "export_incomplete: the export is incomplete: at least 0 entries")
	require.Contains(t, stderr.String(), "broken pipe")
}

// Nobody reads the pipe, so the command waits for its write.
func TestAuditExport_Interrupted_SaysThatLinesAreMissing(t *testing.T) {
	s := newStaff(t)
	s.logged(2_500)
	ctx, interrupt := context.WithCancel(s.Ctx())
	_, stderr, exit := s.exporting(ctx)
	interrupt()
	require.Equal(t, 130, <-exit)
	require.Equal(t, "interrupted; the export is incomplete: at least 0 entries were written\n", stderr.String())
}
