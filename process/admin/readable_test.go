package admin

import (
	"encoding/json"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/partner"
	"partnerdeposits/process/config"
)

func TestDistance(t *testing.T) {
	for d, want := range map[time.Duration]string{
		0: "now", -time.Second: "now", -2 * time.Second: "2 s ago", 90 * time.Second: "in 90 s",
		-2 * time.Minute:  "2 min ago",
		119 * time.Minute: "in 119 min", 5 * time.Hour: "in 5 h", -47 * time.Hour: "47 h ago", -49 * time.Hour: "2 days ago",
	} {
		require.Equal(t, want, distance(d), d)
	}
}

func TestAnswer_ATerminalGetsTablesOfLists(t *testing.T) {
	now := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	shown := func(terminal bool) string {
		var out strings.Builder
		c := &call{streams: streams{stdout: &out}, terminal: terminal, now: now}
		require.NoError(t, c.answer(fields{
			{"amountCents", cents(12050)}, {"closedAt", at(time.Time{})}, {"answer", "evil\x1b[2J\u202e\nline"},
			{"history", []fields{{{"toStatus", "active"}, {"detail", pairs{"b": "2", "a": "1"}}}}},
		}))
		return out.String()
	}
	require.Equal(t,
		"amountCents  12050\nclosedAt     –\nanswer       evil\ufffd[2J\ufffd\n             line\nhistory      active a=1\n             b=2\n",
		shown(false))
	require.Equal(t,
		"amount     120.50 EUR\nclosed at  –\nanswer     evil\ufffd[2J\ufffd\n           line\n\nhistory\nTO STATUS  DETAIL\nactive     a=1\n           b=2\n",
		shown(true))
}

func TestWithoutQuery_HidesWhatMayBeSecret(t *testing.T) {
	require.Equal(t, "https://a.example/hook?…", withoutQuery("https://user:pw@a.example/hook?token=secret#x"))
	require.Equal(t, "https://a.example/hook", withoutQuery("https://a.example/hook"))
	require.Equal(t, none, withoutQuery("https://a.example/%zz?token=secret"))
}

func TestFail_SaysCodeAndMessage(t *testing.T) {
	for name, c := range map[string]struct {
		err       error
		exit      int
		code, msg string
	}{
		"fault":   {partner.ErrSlugTaken, 1, "partner_slug_taken", partner.ErrSlugTaken.Message},
		"unknown": {errors.New("boom"), 1, "failed", "boom"},
		"database": {fault.ErrUnavailable.WithCause(errors.New("refused")), 1, "service_unavailable",
			"the database cannot be reached: refused"},
		"configuration": {config.Mistakes{"A: is wrong"}, 2, "wrong_configuration", config.Mistakes{"A: is wrong"}.Error()},
		"usage": {wrongUsage{errors.New("unknown flag"), "admin key"}, 2, "wrong_usage",
			"admin: unknown flag\nTry: admin key --help"},
		"interrupted": {interruptedAt(errors.New("context canceled")), 130, "interrupted",
			"interrupted; nothing is half done"},
		"long command": {interruptedAt(errReencryptInterrupted), 130, "interrupted", errReencryptInterrupted.Error()},
	} {
		var out strings.Builder
		require.Equal(t, c.exit, fail(&out, true, c.err), name)
		var printed struct {
			Error struct{ Code, Message string }
		}
		require.NoError(t, json.Unmarshal([]byte(out.String()), &printed), name)
		require.Equal(t, []string{c.code, c.msg}, []string{printed.Error.Code, printed.Error.Message}, name)
		out.Reset()
		require.Equal(t, c.exit, fail(&out, false, c.err), name)
		require.True(t, strings.HasSuffix(strings.TrimSpace(out.String()), c.msg), name)
	}
}

func TestProgress_PlainLines_NameRateAndRest(t *testing.T) {
	var out strings.Builder
	p := (&call{streams: streams{stderr: &out}}).progress("rows read")
	begin := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	for _, step := range []struct {
		after time.Duration
		done  int64
	}{{0, 0}, {time.Second, 100}, {6 * time.Second, 600}, {7 * time.Second, 700}, {10 * time.Second, 1000}} {
		p.report(begin.Add(step.after), step.done, 1000, "")
	}
	p.end()
	require.Equal(t,
		"0 of 1000 rows read (0 %)\n600 of 1000 rows read (60 %), 100.0/s, 4s left\n1000 of 1000 rows read (100 %), 100.0/s, 0s left\n",
		out.String())
}

func TestFollowing_ListsWhatMayComeNext(t *testing.T) {
	var line commands
	app := newParser(&line, streams{}, nil).Model
	require.Equal(t, []string{"--help", "--json", "--yes", "--version"}, following(app, nil)[len(following(app, nil))-4:])
	require.NotContains(t, following(app, nil), "__complete")
	require.Subset(t, following(app, []string{"--json", "key"}), []string{"create", "revoke", "list", "--yes"})
	require.NotContains(t, following(app, []string{"--json", "key"}), "--json")
	require.Empty(t, following(app, []string{"key", "revoke", "--id"}), "an open value has no list")
	require.Contains(t, following(app, []string{"key", "revoke", "--id", "key_1"}), "--json")
	require.Contains(t, following(app, []string{"partner", "update", "--return-origin", "x"}), "--return-origin",
		"may be given again")
	require.NotContains(t, following(app, []string{"key", "revoke", "key_1"}), "--id", "the argument names the key")
	require.NotContains(t, following(app, []string{"link", "revoke", "acme"}), "--partner")
	require.Contains(t, following(app, []string{"link", "revoke", "acme"}), "--account")
	require.Subset(t, following(app, []string{"help", "key"}), []string{"create", "revoke", "list"})
	require.Equal(t, []string{"pending", "retrying", "succeeded", "failed"},
		following(app, []string{"webhook", "replay", "--status"}))
}
