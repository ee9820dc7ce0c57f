package dashboard_test

import (
	"encoding/csv"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/connecttest"
)

func TestExport_HasEveryDepositOfTheListOnce(t *testing.T) {
	d := newDesk(t)
	secured(t, d.Server, d.reference, time.Hour)
	_, other := linked(t, d.Server, "c@d.example", "demo")
	theirs := deposits(t, d.Server, d.partner, other, 1)[0]
	change(t, d.Server,
		`UPDATE deposits SET reference = 'D-9999-9999', checkout_token_hash = sha256('another') WHERE reference = $1`,
		d.reference)
	more := deposits(t, d.Server, d.partner, d.account, 250)
	sent := d.b.Submit("/dashboard/deposits/new", newFields(map[string]string{"amount": "1234,5"}))
	require.Equal(t, http.StatusSeeOther, sent.Status)

	answer := d.b.Get("/dashboard/deposits.csv")
	require.Equal(t, http.StatusOK, answer.Status)
	require.Equal(t, "text/csv; charset=utf-8", answer.Header.Get("Content-Type"))
	require.Equal(t, `attachment; filename="deposits.csv"`, answer.Header.Get("Content-Disposition"))
	require.Empty(t, answer.Header.Get("Content-Length"), "a stream")
	body, marked := strings.CutPrefix(answer.Body, "\ufeff")
	require.True(t, marked, "Excel knows the accents by it")
	rows, err := csv.NewReader(strings.NewReader(body)).ReadAll()
	require.NoError(t, err)
	require.Equal(t, []string{"reference", "status", "amount", "captured", "startsOn", "endsOn", "rentalContract",
		"tenant", "email", "createdAt", "claim", "paid", "paidAt"}, rows[0])
	require.Len(t, rows, 1+252)
	byReference := map[string][]string{}
	for _, row := range rows[1:] {
		byReference[row[0]] = row
	}
	require.Len(t, byReference, 252)
	require.NotContains(t, byReference, theirs)
	require.Contains(t, byReference, more[249])
	require.Equal(t, "active", byReference["D-9999-9999"][1])
	made := depositOf(t, d.Server, rows[len(rows)-1][0])
	for _, row := range rows[1:] {
		if row[2] == "1234.50" {
			made = depositOf(t, d.Server, row[0])
			require.Equal(t, []string{made.Reference, "pending", "1234.50", "0.00", "2031-07-01", "2031-07-08", "B-1",
				"Grace Hopper", "grace@example.com", deposit.FormatTimestamp(made.CreatedAt), "", "", ""}, row)
		}
	}
	require.EqualValues(t, 123_450, made.Amount)

	filtered, err := csv.NewReader(strings.NewReader(d.b.Get("/dashboard/deposits.csv?status=active").Body)).ReadAll()
	require.NoError(t, err)
	require.Len(t, filtered, 2)
	none := d.b.Get("/dashboard/deposits.csv?q=nobody")
	require.Equal(t, "\ufeff"+strings.Join(rows[0], ",")+"\n", none.Body, "the columns alone")
}

// No cell begins like a formula, whichever separator the spreadsheet expects.
func TestExport_CellsAreNoFormulas(t *testing.T) {
	d := newDesk(t)
	evil := []string{"=1+1", "+cmd|' /C calc'!A0", "-2+3", "@SUM(A1)", "\t=1", "a;=1+1", "a,=1+1", "a\r\n=1+1", `x"=1+1`,
		"＝1+1", "  =1", "a; -1", "=a;=b", "\u00a0@x", "\ufeff=1"}
	for i, text := range evil {
		change(t, d.Server,
			`INSERT INTO clients (id, account_id, email, first_name, last_name, created_at)
				VALUES ($1, $2, '=x@y.example', $3, '=Doe', now())`,
			id.ID{8, 15: byte(i)}, d.account, text)
		change(t, d.Server,
			`INSERT INTO deposits SELECT (jsonb_populate_record(d, jsonb_build_object('id', $2::uuid, 'reference', $3::text,
				'client_id', $2::uuid, 'rental_contract', $4::text,
			'checkout_token_hash', '\x' || md5($3::text)))).* FROM deposits d WHERE reference = $1`, d.reference,
			id.ID{8, 15: byte(i)}, "D-EVIL-"+string(rune('A'+i)), text)
	}
	change(t, d.Server, `UPDATE deposits SET rental_contract = 'Chalet 12 - bleu, a-b' WHERE reference = $1`, d.reference)
	body := d.b.Get("/dashboard/deposits.csv").Body
	require.Equal(t, 1+len(evil)+1, strings.Count(body, "D-")+1)
	require.Contains(t, body, `"Chalet 12 - bleu, a-b"`, "other texts stay as they are")
	danger := regexp.MustCompile(`^[\s\x{feff}\x{00a0}]*[=+\-@＝＋－＠]`)
	for _, separator := range []rune{',', ';', '\t', '|'} {
		r := csv.NewReader(strings.NewReader(body))
		r.Comma, r.LazyQuotes, r.FieldsPerRecord = separator, true, -1
		rows, err := r.ReadAll()
		require.NoError(t, err)
		for _, row := range rows {
			for _, cell := range row {
				require.False(t, danger.MatchString(cell), "%q between %q", cell, separator)
			}
		}
		for line := range strings.Lines(body) { // a program that knows no quotes
			for part := range strings.SplitSeq(line, string(separator)) {
				require.False(t, danger.MatchString(part), "%q between %q", part, separator)
			}
		}
	}
}

func TestExportsAndMails_BeyondTheirLimit_AreRefused(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{Limit: 3})
	p := s.CreatePartner("demo")
	b, account := linked(t, s, "a@b.example", "demo")
	path := pathOf(t, s, deposits(t, s, p, account, 1)[0])
	s.Limiter.Max = 1
	refused := b.Get("/dashboard/deposits.csv")
	require.Equal(t, http.StatusTooManyRequests, refused.Status)
	require.Equal(t, "rate_limited", refused.ErrorCode())
	rule := (*s.Limiter.Rules.Load())[0]
	require.Equal(t, []any{"desk:exports:" + id.Account.Of(account), 30, 0}, []any{rule.Key, rule.PerMinute, rule.PerHour})

	page := b.Get(path)
	sent := b.Send(b.Send(page, form(t, page, "send_link"), map[string]string{"email": "grace@example.com"}), 0, nil)
	require.Equal(t, http.StatusTooManyRequests, sent.Status)
	require.Equal(t, http.StatusTooManyRequests, b.Submit("/dashboard/deposits/new", newFields(nil)).Status)
	rule = (*s.Limiter.Rules.Load())[0]
	require.Equal(t, []any{"desk:mails:" + id.Account.Of(account), 0, 100}, []any{rule.Key, rule.PerMinute, rule.PerHour})
	require.Zero(t, s.Count("mails", "link_of IS NOT NULL"))
	require.Equal(t, 1, s.Count("deposits", ""))
}
