package dashboard_test

import (
	"net/http"
	"net/url"
	"testing"

	"github.com/stretchr/testify/require"

	acts "partnerdeposits/app/deposits"
	"partnerdeposits/lab/connecttest"
)

// askedDesk is a desk whose deposit is ready for an act.
type askedDesk struct {
	*desk
	act acts.OperatorAct
	q   questioned
}

func newAsked(t *testing.T, act acts.OperatorAct) askedDesk {
	t.Helper()
	q, known := questions[act]
	require.True(t, known, "how is the form %s filled in?", act)
	d := askedDesk{deskOf(t), act, q}
	q.ready(t, d.Server, d.reference)
	return d
}

// ask sends the first form of the act, in a tab of its own, and gives its question.
func (d askedDesk) ask() connecttest.Answer {
	d.t.Helper()
	intent := string(d.act)
	if d.act == acts.ActAddFiles {
		return d.send(d.b, d.path, d.token(d.b), url.Values{"intent": {intent}}, photo(d.t, "oven.jpg"))
	}
	fields := map[string]string{}
	if d.q.field != "" {
		fields[d.q.field] = d.q.text
	}
	if d.act == acts.ActCapture {
		fields["whole"] = "yes"
	}
	return d.desk.ask(intent, fields)
}

// effects counts what acts leave behind.
func (d askedDesk) effects() map[string]int {
	d.t.Helper()
	all := map[string]int{}
	for table, where := range map[string]string{
		"deposit_transitions": "", "collection_steps": "", "payments": "", "mails": "link_of IS NOT NULL",
		"deposit_files": "added_at IS NOT NULL", "audit_log": "action LIKE 'deposit.%'",
		"outbox": "name <> 'rental_operator.linked'", "collections": "cancel_at IS NOT NULL OR state = 'failed'",
	} {
		all[table] = d.Count(table, where)
	}
	return all
}

// Eight clicks at once on the button of a question do what a single click does.
func TestEveryQuestion_ADoubleClick_HappensOnce(t *testing.T) {
	t.Parallel()
	for _, act := range acts.OperatorActs {
		t.Run(string(act), func(t *testing.T) {
			t.Parallel()
			one, many := newAsked(t, act), newAsked(t, act)
			before := one.effects()
			one.done(one.confirm(one.ask(), string(act)), string(act))
			many.confirmAtOnce(many.ask(), string(act))
			require.NotEqual(t, before, one.effects())
			require.Equal(t, one.effects(), many.effects())
		})
	}
}

// Of two tabs with the same question, the second is told that it came too late. A further link and further files are no
// repetition, and go out.
func TestEveryQuestion_InTwoTabs_TheSecondIsTold(t *testing.T) {
	t.Parallel()
	for _, act := range acts.OperatorActs {
		t.Run(string(act), func(t *testing.T) {
			t.Parallel()
			d := newAsked(t, act)
			first, second := d.ask(), d.ask()
			d.done(d.confirm(first, string(act)), string(act))
			once := d.effects()
			told := d.confirm(second, string(act))
			if act == acts.ActSendLink || act == acts.ActAddFiles {
				d.done(told, string(act))
				require.NotEqual(t, once, d.effects())
				return
			}
			require.Equal(t, http.StatusConflict, told.Status)
			require.Equal(t, once, d.effects())
		})
	}
}

// A question about a deposit, or a claim, that has ended meanwhile does nothing.
func TestEveryQuestion_OfAStalePage_DoesNothing(t *testing.T) {
	t.Parallel()
	for _, act := range acts.OperatorActs {
		t.Run(string(act), func(t *testing.T) {
			t.Parallel()
			d := newAsked(t, act)
			asked := d.ask()
			if act == acts.ActRemind || act == acts.ActMarkSettledElsewhere || act == acts.ActWithdrawClaim {
				change(t, d.Server, `UPDATE collections SET state = 'paid', ended_at = now()`)
			} else {
				change(t, d.Server, `UPDATE deposits SET version = version + 1,
					status = CASE status WHEN 'active' THEN 'close' ELSE 'cancelled' END,
					closed_at = CASE status WHEN 'active' THEN now() END,
					cancelled_at = CASE status WHEN 'active' THEN NULL ELSE now() END
					WHERE reference = $1`, d.reference)
			}
			before := d.effects()
			told := d.confirm(asked, string(act))
			require.Equal(t, http.StatusConflict, told.Status, told.Body)
			require.Equal(t, before, d.effects())
		})
	}
}
