package dashboard_test

import (
	"log/slog"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/payments"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/connecttest"
	"partnerdeposits/lab/servicetest"
)

// withTenant makes Grace the tenant of the deposit, who reads mails in that language.
func withTenant(t *testing.T, s *connecttest.Server, reference, locale string) {
	t.Helper()
	clientID := servicetest.NewID()
	change(t, s, `INSERT INTO clients (id, account_id, email, first_name, last_name, phone, locale, created_at)
		SELECT $1, account_id, 'grace@example.com', 'Grace', 'Hopper', '', '', now() FROM deposits WHERE reference = $2`,
		clientID, reference)
	change(t, s, `UPDATE deposits SET client_id = $1, locale = $3 WHERE reference = $2`, clientID, reference, locale)
}

func TestClaimPage_StartsEmptyAndOffersTheWholeAmount(t *testing.T) {
	d := newDesk(t)
	secured(t, d.Server, d.reference, 24*time.Hour)
	page := d.b.Get(d.path + "/claim")
	require.Equal(t, http.StatusOK, page.Status)
	require.Empty(t, page.InputAttribute("amount", "value"))
	require.Contains(t, page.ElementText("main"), "From €0.50 to €1,250.50.")
	require.Contains(t, page.ElementText("main"), "The whole amount, €1,250.50")
	require.NotContains(t, page.Body, " checked")

	whole := d.ask("capture", map[string]string{"whole": "yes"})
	require.Contains(t, whole.Body, "Claim €1,250.50?")
	require.NotContains(t, whole.Body, "The other", "no rest")
	require.Contains(t, d.ask("capture", map[string]string{"whole": "yes", "amount": "1250,50"}).Body, "Claim €1,250.50?")
	for says, fields := range map[string]map[string]string{
		"Enter an amount, or tick the whole amount.":          {"description": words},
		"Enter an amount or tick the whole amount, not both.": {"amount": "5", "whole": "yes", "description": words},
	} {
		sent := d.ask("capture", fields)
		require.Equal(t, http.StatusUnprocessableEntity, sent.Status)
		require.Contains(t, sent.ElementText("main"), says)
		require.Equal(t, "#capture-amount", sent.LinkURLByPrefix("#capture"))
		require.Contains(t, sent.ElementText("textarea"), "The oven", "what was typed stays")
		require.Equal(t, fields["whole"] == "yes", strings.Contains(sent.Body, ` checked id="capture-whole"`))
		focused := 0
		for _, input := range sent.ElementsByTag("input") {
			for _, a := range input.Attr {
				if a.Key == "autofocus" {
					focused++
					require.Equal(t, "capture-amount", attribute(input, "id"))
				}
			}
		}
		require.Equal(t, 1, focused)
	}
	old := d.b.Post(d.path, url.Values{"csrf_token": {page.InputAttribute("csrf_token", "value")}, "intent": {"capture"}})
	require.Contains(t, old.Body, "Claim €1,250.50?", "a form that does not know the field")
	require.Equal(t, deposit.Active, depositOf(t, d.Server, d.reference).Status)
}

func TestClaimPage_OfADepositThatCannotBeClaimed_SaysSo(t *testing.T) {
	d := newDesk(t)
	told := d.b.Get(d.path + "/claim")
	require.Equal(t, http.StatusConflict, told.Status)
	require.Contains(t, told.Body, "Nothing was claimed")
	require.Negative(t, told.FormIndexByIntent("capture"))
	secured(t, d.Server, d.reference, time.Hour)
	stranger, _ := linked(t, d.Server, "c@d.example", "demo")
	require.Equal(t, http.StatusNotFound, stranger.Get(d.path+"/claim").Status)
	require.Equal(t, http.StatusNotFound, d.b.Get("/dashboard/deposits/dep_x/claim").Status)

	// A claim with mistakes is no longer one once the deposit has changed.
	token := d.b.Get(d.path).InputAttribute("csrf_token", "value")
	sent := d.b.PostWithoutFollowing(d.path, url.Values{"csrf_token": {token}, "intent": {"capture"}, "amount": {"x"}})
	captured(t, d.Server, d.reference, 5_000)
	require.Equal(t, http.StatusConflict, d.b.Get(sent.Location).Status)
}

type freshIDs struct{}

func (freshIDs) NewID() id.ID       { return servicetest.NewID() }
func (freshIDs) Bytes(n int) []byte { return make([]byte, n) }

func TestClaim_Question_ShowsTheMailThatIsSent(t *testing.T) {
	t.Parallel()
	for locale, part := range map[string]string{"fr": `<div lang="fr">`, "en": `<div lang="en">`, "": `<div>`} {
		t.Run("locale "+locale, func(t *testing.T) {
			d := newDesk(t)
			withTenant(t, d.Server, d.reference, locale)
			secured(t, d.Server, d.reference, 24*time.Hour)
			asked := d.ask("capture", map[string]string{"amount": "120,50", "reason": "damage", "description": words})
			facts := asked.ElementText("dl")
			for _, want := range []string{"€120.50", "Damage", words} {
				require.Contains(t, facts, want)
			}
			require.Contains(t, asked.Body, part)
			require.Contains(t, asked.ElementText("section"), "To grace@example.com")
			require.NotContains(t, asked.Body, "<b>a window")
			require.Empty(t, d.ListMails("grace@example.com"))
			d.done(d.confirm(asked, "capture"), "capture")
			_, err := payments.TenantNoticeMailer{
				Notices: d.Postgres.TenantNotices, Mails: d.Postgres.Mails, UnitOfWork: d.Postgres,
				Deposits: d.Postgres.Deposits, Operators: d.Postgres.Operators, Collections: d.Postgres.Collections,
				Refunds: d.Postgres.Refunds, Agreements: d.Postgres.Agreements,
				Payments: d.Postgres.Payments, Clock: d.Clock, Entropy: freshIDs{},
				DashboardURL: d.DashboardURL, Log: slog.New(slog.DiscardHandler),
			}.ScheduledJob(time.Minute).Run(t.Context())
			require.NoError(t, err)
			mails := d.ListMails("grace@example.com")
			require.Len(t, mails, 1)
			require.Equal(t, mails[0].Subject, asked.ElementText("h3"))
			require.Equal(t, mails[0].Body, asked.ElementText("pre"))
		})
	}
}

func TestClaim_Question_WithoutATenantsRecord_SaysThatNobodyIsMailed(t *testing.T) {
	d := newDesk(t)
	secured(t, d.Server, d.reference, 24*time.Hour)
	asked := d.ask("capture", map[string]string{"amount": "100"})
	require.Contains(t, asked.ElementText("main"), "Nobody is mailed")
	require.Contains(t, asked.ElementText("dl"), "No reason given")
	require.Empty(t, asked.ElementsByTag("pre"))
}

// mainButtons gives the words of the main buttons on a page.
func mainButtons(page connecttest.Answer) (all []string) {
	for _, name := range []string{"a", "button"} {
		for _, n := range page.ElementsByTag(name) {
			for class := range strings.FieldsSeq(attribute(n, "class")) {
				if class == "main" {
					all = append(all, n.FirstChild.Data)
				}
			}
		}
	}
	return all
}

func TestDetail_HasOneMainActForEachStatus(t *testing.T) {
	c := newClaim(t)
	require.Empty(t, mainButtons(c.b.Get(c.path)), "the tenant was reminded today")
	c.mailedYesterday()
	require.Equal(t, []string{"Mail the tenant the link again"}, mainButtons(c.b.Get(c.path)))
	plain := more(t, c)
	path := pathOf(t, c.Server, plain)
	for _, status := range []string{"pending", "incomplete", "payment_issue"} {
		change(t, c.Server, `UPDATE deposits SET status = $2 WHERE reference = $1`, plain, status)
		page := c.b.Get(path)
		require.Equal(t, []string{"Send the link"}, mainButtons(page), status)
		require.Equal(t, "No tenant yet", page.ElementText("h1"))
		page.RequireNoForeignScript(t, path)
		require.Len(t, page.ElementsByTag("script"), 1, "a link to copy")
	}
	cancelled := more(t, c)
	change(t, c.Server, `UPDATE deposits SET status = 'cancelled', cancelled_at = now() WHERE reference = $1`, cancelled)
	require.Empty(t, mainButtons(c.b.Get(pathOf(t, c.Server, cancelled))))
	secured(t, c.Server, plain, time.Hour)
	page := c.b.Get(path)
	require.Equal(t, []string{"Claim for damage"}, mainButtons(page))
	require.Equal(t, path+"/claim", page.LinkURLByPrefix(path+"/claim"))
	require.Empty(t, page.ElementsByTag("script"), "nothing to copy")
	require.GreaterOrEqual(t, page.FormIndexByIntent("release"), 0)
	captured(t, c.Server, plain, 5_000)
	require.Empty(t, mainButtons(c.b.Get(path)))
	require.Equal(t, "Grace Hopper", c.b.Get(c.path).ElementText("h1"))
}

func TestDetail_HistoryIsNewestFirst(t *testing.T) {
	d := newDesk(t)
	d.Clock.Add(time.Minute)
	page := d.done(d.confirm(d.ask("cancel", nil), "cancel"), "cancel")
	var times []string
	for _, n := range page.ElementsByTag("time") {
		times = append(times, attribute(n, "datetime"))
	}
	require.Len(t, times, 2)
	require.Greater(t, times[0], times[1])
	history := page.ElementText("ol")
	require.Less(t, strings.Index(history, "Cancelled"), strings.Index(history, "Deposit made"))
}

func TestDetail_OfAnUnverifiedOperator_SaysWhatIsMissing(t *testing.T) {
	s, b, made := unverifiedDesk(t)
	secured(t, s, made[0], time.Hour)
	for reference, intent := range map[string]string{made[0]: "release", made[1]: "cancel"} {
		page := b.Get(pathOf(t, s, reference))
		require.Empty(t, mainButtons(page))
		require.Contains(t, page.ElementText("main"), "verify your e-mail address first")
		require.Equal(t, "/dashboard/settings", page.LinkURLByPrefix("/dashboard/settings"))
		require.GreaterOrEqual(t, page.FormIndexByIntent(intent), 0, "what needs no address")
		require.Negative(t, page.FormIndexByIntent("send_link"))
	}
	require.NotEmpty(t, b.Get(pathOf(t, s, made[1])).InputAttribute("link", "value"), "the link can be copied")
	refused := b.Get(pathOf(t, s, made[0]) + "/claim")
	require.Equal(t, http.StatusForbidden, refused.Status)
	require.Equal(t, "email_not_verified", refused.ErrorCode())
}
