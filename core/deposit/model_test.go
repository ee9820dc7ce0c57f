package deposit_test

import (
	"os"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"pgregory.net/rapid"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/money"
)

// specified reads the table of transitions in docs/spec/api.md §3: status, trigger, next status.
func specified(t *testing.T) map[deposit.Status]map[deposit.Trigger]deposit.Status {
	t.Helper()
	page, err := os.ReadFile("../../docs/spec/api.md")
	require.NoError(t, err)
	_, section, found := strings.Cut(string(page), "## 3. Deposit states")
	require.True(t, found)
	table := map[deposit.Status]map[deposit.Trigger]deposit.Status{}
	line := regexp.MustCompile(`(?m)^\| ([a-z_, ]+) \| ([a-z_]+) \| [^|]* \| ([a-z_, ]+|–) \|`)
	section, _, _ = strings.Cut(section, "\n## ")
	for _, cells := range line.FindAllStringSubmatch(section, -1) {
		if cells[1] == "from" {
			continue
		}
		reasons := strings.Split(cells[3], ", ")
		if cells[3] == "–" {
			reasons = []string{string(deposit.TriggerSecured)}
		}
		for from := range strings.SplitSeq(cells[1], ", ") {
			for _, reason := range reasons {
				if table[deposit.Status(from)] == nil {
					table[deposit.Status(from)] = map[deposit.Trigger]deposit.Status{}
				}
				table[deposit.Status(from)][deposit.Trigger(reason)] = deposit.Status(cells[2])
			}
		}
	}
	return table
}

// model is a deposit as the specification tells it: the status, and the time of each change.
type model struct {
	table    map[deposit.Status]map[deposit.Trigger]deposit.Status
	status   deposit.Status
	version  int
	entered  map[deposit.Status]time.Time
	expires  time.Time
	captured money.Cents
}

// moves gives the next status, or false where the specification refuses the trigger.
func (m *model) moves(trigger deposit.Trigger, now time.Time) (deposit.Status, bool) {
	to, ok := m.table[m.status][trigger]
	return to, ok && (trigger != deposit.TriggerCaptureRequested || now.Before(m.expires))
}

func (m *model) enter(to deposit.Status, end, now time.Time) {
	m.status, m.version, m.entered[to] = to, m.version+1, now
	if to == deposit.Active { // min(max(contractEndAt + 14 d, activatedAt + 24 h), activatedAt + 60 d)
		m.expires = end.Add(14 * day)
		if m.expires.Before(now.Add(day)) {
			m.expires = now.Add(day)
		}
		if m.expires.After(now.Add(60 * day)) {
			m.expires = now.Add(60 * day)
		}
	}
}

func (m *model) agrees(t require.TestingT, d *deposit.Deposit) {
	require.Equal(t, m.status, d.Status)
	require.Equal(t, m.version, d.Version)
	require.Equal(t, m.captured, d.CapturedAmount)
	require.True(t, m.expires.Equal(d.ExpiresAt))
	for status, at := range map[deposit.Status]time.Time{
		deposit.Active: d.ActivatedAt, deposit.Cancelled: d.CancelledAt, deposit.Closed: d.ClosedAt,
		deposit.Captured: d.CapturedAt,
	} {
		require.True(t, m.entered[status].Equal(at), status)
	}
}

// Random triggers, captures and pauses: the deposit and a model that only knows the specification stay equal.
func TestDeposit_RandomLives_AgreeWithTheSpecification(t *testing.T) {
	table, timers := specified(t), deposit.DefaultTimerDurations()
	require.Len(t, table, 4, "statuses that are not final")
	rapid.Check(t, func(t *rapid.T) {
		now, d := start, sample()
		d.ContractEndAt = start.Add(time.Duration(rapid.IntRange(-30, 90).Draw(t, "contract's days")) * day)
		m := &model{table: table, status: deposit.Pending, version: 1, entered: map[deposit.Status]time.Time{}}
		step := func(trigger deposit.Trigger, apply func() (deposit.Transition, error)) bool {
			before := *d
			to, allowed := m.moves(trigger, now)
			made, err := apply()
			if !allowed {
				require.Error(t, err)
				require.Equal(t, before, *d, "a refused step changes nothing")
				return false
			}
			require.NoError(t, err)
			require.Equal(t, []any{before.Status, to, trigger, m.version + 1},
				[]any{made.From, made.To, made.Trigger, made.Version})
			m.enter(to, d.ContractEndAt, now)
			return true
		}
		t.Repeat(map[string]func(*rapid.T){
			"trigger": func(t *rapid.T) {
				trigger := rapid.SampledFrom(slices.DeleteFunc(slices.Clone(deposit.Triggers),
					func(t deposit.Trigger) bool { return t == deposit.TriggerCaptureRequested })).Draw(t, "trigger")
				step(trigger, func() (deposit.Transition, error) { return d.ApplyTrigger(trigger, timers, now) })
			},
			"capture": func(t *rapid.T) {
				amount := money.Cents(rapid.Int64Range(int64(least), int64(d.Amount)).Draw(t, "amount"))
				if step(deposit.TriggerCaptureRequested,
					func() (deposit.Transition, error) { return d.Capture(&amount, least, timers, now) }) {
					m.captured = amount
				}
			},
			"capture too much": func(t *rapid.T) {
				before := *d
				amount := d.Amount + money.Cents(rapid.Int64Range(1, 1<<50).Draw(t, "excess"))
				_, err := d.Capture(&amount, least, timers, now)
				require.Error(t, err)
				require.Equal(t, before, *d)
			},
			"wait": func(t *rapid.T) {
				now = now.Add(time.Duration(rapid.IntRange(1, 20*24).Draw(t, "hours")) * time.Hour)
			},
			"": func(t *rapid.T) { m.agrees(t, d) },
		})
	})
}
