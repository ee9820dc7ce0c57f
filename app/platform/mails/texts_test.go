package mails_test

import (
	"fmt"
	"html"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	xhtml "golang.org/x/net/html"

	"partnerdeposits/app/platform/mails"
	"partnerdeposits/core/agreement"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	depositports "partnerdeposits/ports/deposits"
	paymentports "partnerdeposits/ports/payments"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

// The whole texts stand in lab/mailbook/testdata. These tests show what depends on the values of a mail.

var now = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

const linkURL = "https://dash.example/checkout/tok-en_1"

func ada(locale string) connect.Operator {
	return connect.Operator{Email: "ada@gites.example", Locale: locale}
}

func link(locale string) mails.DepositLink {
	return mails.DepositLink{
		To: "jeanne@example.com", Locale: locale, Company: "Gîtes d’Ada", URL: linkURL,
		Deposit: &deposit.Deposit{
			ID: id.ID{7}, Reference: "D-7K3M-9Q2X", PartnerName: "Acme",
			CheckoutExpiresAt: time.Date(2026, 12, 8, 10, 0, 0, 0, time.UTC),
			Draft: deposit.Draft{
				Amount: 125_000, RentalContract: "BK-2026/17", ContractStartAt: time.Date(2026, 12, 1, 15, 0, 0, 0, time.UTC),
				ContractEndAt: time.Date(2026, 12, 8, 10, 0, 0, 0, time.UTC),
			},
		},
	}
}

func securedDeposit() depositports.SecuredDeposit {
	d := link("").Deposit
	return depositports.SecuredDeposit{
		ID: d.ID, Reference: d.Reference, Amount: d.Amount, RentalContract: d.RentalContract,
		ContractStartAt: d.ContractStartAt, ContractEndAt: d.ContractEndAt,
		ExpiresAt: time.Date(2026, 12, 22, 10, 0, 0, 0, time.UTC),
	}
}

func disputed(status string) mails.DisputeNotice {
	return mails.DisputeNotice{
		Operator: ada("en"), Deposit: paymentports.DisputedDeposit{ID: id.ID{7}, Reference: "D-7K3M-9Q2X"},
		DashboardURL: "https://dash.example",
		Dispute: paymentports.Dispute{Ref: "dp_1", Amount: 12_000, Reason: "fraudulent", Status: status,
			EvidenceDueBy: now},
	}
}

func TestLanguage_OfAMail_IsThatOfItsReader(t *testing.T) {
	for locale, want := range map[string]struct{ subject, langs string }{
		"en-GB": {"Your rental deposit", "en en"},
		"fr-CA": {"Votre caution de location", "fr fr"},
		"":      {"Your rental deposit / Votre caution de location", "en en fr"},
	} {
		m := link(locale).Mail(id.ID{1}, now)
		require.Equal(t, want.subject, m.Subject)
		var langs []string
		for _, part := range strings.Split(m.HTML, ` lang="`)[1:] {
			langs = append(langs, part[:2])
		}
		require.Equal(t, want.langs, strings.Join(langs, " "), "of the page and of its parts: %q", locale)
		require.Equal(t, len(langs)-2, strings.Count(m.Body, "\n* * *\n"))
	}
	require.Contains(t, mails.PartnerLinked{Operator: ada("en"), DashboardURL: "https://dash.example/"}.Mail(id.ID{}, now).Body,
		"\nhttps://dash.example/dashboard/partner\n")
}

// Names, the number of a booking and the words of a claim come from partners and operators; the mail goes where they
// say.
func TestTextOfOthers_IsOneLineWithoutMarkup(t *testing.T) {
	for _, hostile := range hostileNames {
		asked := link("en")
		asked.Company, asked.Deposit.PartnerName, asked.Deposit.RentalContract = hostile, hostile, hostile
		mail := asked.Mail(id.ID{1}, now)
		require.Equal(t, strings.Count(link("en").Mail(id.ID{1}, now).Body, "\n")-1, strings.Count(mail.Body, "\n"),
			"%q adds no line", hostile)
		secured := securedDeposit()
		secured.RentalContract = hostile
		about := disputed("lost")
		about.Deposit.RentalContract = hostile
		paid := mails.FeePaid{To: "jeanne@example.com", Deposit: securedDeposit(), Company: hostile, Fee: 4_375, PaidAt: now,
			Words: agreement.Terms{Company: hostile}.FullText("en")}
		withLink := []ports.Mail{
			mail,
			mails.PartnerLinked{Operator: ada("en"), PartnerName: hostile, DashboardURL: "https://dash.example"}.Mail(id.ID{1}, now),
			mails.PartnerUnlinked{Operator: ada("en"), PartnerName: hostile, By: connect.RevokedByPartner,
				DashboardURL: "https://dash.example"}.Mail(id.ID{1}, now),
			mails.DepositSecured{Operator: ada("en"), Deposit: secured,
				DashboardURL: "https://dash.example"}.Mail(id.ID{1}, now),
			about.Mail(id.ID{1}, now),
		}
		for _, m := range withLink {
			require.Equal(t, 1, countLinks(m.HTML), "%q", hostile)
			require.NotContains(t, m.Body, "Booking", "%q", hostile)
		}
		all := append(withLink, paid.Mail(id.ID{1}, now))
		for _, kind := range paymentports.TenantNoticeKinds {
			m := tenantMoney("", kind)
			m.Company, m.Words = hostile, hostile
			all = append(all, m.Mail(id.ID{1}, now))
		}
		for _, m := range all {
			requireHarmless(t, m, hostile)
		}
	}
}

func TestBooking_IsShownIfItLooksLikeANumber(t *testing.T) {
	for contract, shown := range map[string]bool{
		"BK_1#2": true, "": false, "evil.example": false, "call 0900 123": false, "a:b": false, "@x": false, "é": false,
		strings.Repeat("1", 40): true, strings.Repeat("1", 41): false,
	} {
		m := link("en")
		m.Deposit.RentalContract = contract
		require.Equal(t, shown, strings.Contains(m.Mail(id.ID{1}, now).Body, "Booking: "), contract)
	}
}

func TestFeePaid_WithoutAddresses_LeavesThemOut(t *testing.T) {
	m := mails.FeePaid{Locale: "fr", Deposit: securedDeposit(), Fee: 4_375, PaidAt: now,
		Words: "These words."}.Mail(id.ID{1}, now)
	require.Contains(t, plain(m.Body), "Vous avez accepté ces termes :\n\nThese words.\n\n--\n")
}

func TestDisputed_Changed_TellsTheState(t *testing.T) {
	for status, want := range map[string]string{
		"lost": "lost: the money goes back to the tenant", "won": "decided for you", "warning_closed": "decided for you",
		"under_review": "under review by the bank", "new_word": "under review by the bank",
	} {
		got := disputed(status).Mail(id.ID{1}, now)
		require.Contains(t, got.Body, "State: "+want, status)
		require.NotContains(t, got.Body, "Evidence is due", status)
	}
}

// ending is the mail about n covers, which lists some of them.
func ending(locale string, listed, n int) ports.Mail {
	about := depositports.EndingCoversMailData{Operator: ada(locale), Count: n}
	for i := range listed {
		about.Covers = append(about.Covers, depositports.EndingCover{
			Reference: fmt.Sprintf("D-%04d-0000", i), Amount: 30_000, RentalContract: []string{"BK-1", "a sentence"}[i%2],
			ExpiresAt: now.AddDate(0, 0, 2),
		})
	}
	return mails.CoversEnding{EndingCoversMailData: about, DashboardURL: "https://dash.example"}.Mail(id.ID{1}, now)
}

func TestCoversEnding_ListsAndCounts(t *testing.T) {
	require.Contains(t, plain(ending("en", 2, 4).Body), `
  D-0000-0000 (BK-1): €300.00, 23 November 2026, 10:00 UTC
  D-0001-0000: €300.00, 23 November 2026, 10:00 UTC
`)
	require.NotContains(t, ending("en", 1, 1).Body, "on your pages")
	for listed, words := range map[int][2]string{
		1: {"One more is on your pages.", "Une autre figure"}, 2: {"2 more are on your pages.", "2 autres figurent"},
	} {
		require.Contains(t, plain(ending("en", 20, 20+listed).Body), words[0])
		require.Contains(t, plain(ending("fr", 20, 20+listed).Body), words[1])
	}
	require.Equal(t, 20, strings.Count(ending("fr", 20, 22).HTML, `<th scope="row"`))
}

func TestEndpointNotice_NamesTheEndpointWithoutItsQuery_AndNoErrorThatWasNot(t *testing.T) {
	mail := mails.EndpointNotice{NoticeMailData: webhookports.NoticeMailData{
		Notice: webhook.Notice{Kind: webhook.NoticeDeliveryGivenUp, Deliveries: 1},
		URL:    "https://pms.example/hook/a%20b?token=s3cret",
	}}.Mail(id.ID{1}, now)
	require.Contains(t, mail.Body, "https://pms.example/hook/a%20b\n")
	require.NotContains(t, mail.Body, "s3cret")
	require.NotContains(t, mail.Body, "Last error")
	require.Contains(t, mail.Body, "1 delivery to your endpoint has failed")
}

func tenantMoney(locale string, kind paymentports.TenantNoticeKind) mails.ChargeOrRefundNotice {
	m := mails.ChargeOrRefundNotice{
		To: "jeanne@example.com", Locale: locale, Kind: kind, Deposit: link("").Deposit, Company: "Gîtes d’Ada",
		Amount: 18_050, Reason: "damage", Words: "Broken coffee table",
	}
	if kind == paymentports.TenantNoticeCardRefused {
		m.URL = linkURL
	}
	return m
}

func TestTenantMoney_Captured_TellsWhenTheCardIsChargedAndWhomToTell(t *testing.T) {
	m := tenantMoney("en", paymentports.TenantNoticeCaptured)
	require.Contains(t, plain(m.Mail(id.ID{1}, now).Body),
		"\nIf you do not agree, tell Gîtes d’Ada why, and name the reference. You can also object to the charge at your bank.\n")
	m.ChargedAt, m.Locale = now.Add(24*time.Hour), "fr"
	require.Contains(t, plain(m.Mail(id.ID{1}, now).Body), "est débitée le 22 novembre 2026.\n")
	for _, reason := range deposit.CaptureReasons {
		m := tenantMoney("en", paymentports.TenantNoticeCaptured)
		m.Reason = reason
		require.Contains(t, plain(m.Mail(id.ID{1}, now).Body), "  Reason: ", reason)
	}
}

func TestMoneyOf_TellsTheOperatorsContactAndDaysOfItsZone(t *testing.T) {
	d := *link("").Deposit
	d.Client = &deposit.ClientDetails{Email: "jeanne@example.com"}
	of := connect.Account{CompanyName: "Gîtes d’Ada", Contact: "+33 4 50 00 00 00", Timezone: "Pacific/Kiritimati"}
	m := mails.NewChargeOrRefundNotice(&d, "en", paymentports.TenantNoticeCaptured, of, "")
	require.Contains(t, m.Mail(id.ID{}, d.CreatedAt).Body, "tell Gîtes d’Ada (+33 4 50 00 00 00) why")
	require.Equal(t, d.InTimeZone(of.Zone()), m.Deposit)
}

func TestRetryWaits_OutlastAWeekend(t *testing.T) {
	var all time.Duration
	for i, wait := range mails.RetryWaits {
		require.GreaterOrEqual(t, wait, mails.RetryWaits[max(i-1, 0)])
		all += wait
	}
	require.Equal(t, time.Minute, mails.RetryWaits[0])
	require.Greater(t, all, 3*24*time.Hour)
}

// plain replaces the no-break spaces of a text, which nobody can see in a test.
func plain(text string) string { return strings.ReplaceAll(text, "\u00a0", " ") }

// hostileNames are names that try to begin a header, a line, a link or an element of a mail.
var hostileNames = []string{
	"a\r\nBcc: victim@example.com", "a\n\nhttps://evil.example", "a\u202elive", "a\u2028b", "a\x00b", "\xff",
	"<a href=https://evil.example>x</a>",
	`"><script>alert(1)</script>`, "{{.URL}}", "<img src=x onerror=alert(1)>", "</td></tr></table>", "<!--", "%s%d%!v",
	"javascript:alert(1)", "</style><style>*{display:none}",
}

// requireHarmless fails when a name has become more than words between those of the service.
func requireHarmless(t *testing.T, m ports.Mail, name string) {
	t.Helper()
	require.NotRegexp(t, "[\r\n\u202e\u2028\x00]", m.Subject, "%q", name)
	require.NotRegexp(t, "[\r\u202e\u2028\x00]", m.Body+m.HTML, "%q", name)
	require.NotContains(t, m.Body, "\nBcc:")
	require.NotContains(t, m.Body, "\nhttps://evil.example")
	require.NotContains(t, m.Subject+m.Body+m.HTML, "%!(", "a name is no format: %q", name)
	tree, err := xhtml.Parse(strings.NewReader(m.HTML))
	require.NoError(t, err)
	tables, styles := 0, 0
	for n := range tree.Descendants() {
		if n.Type == xhtml.CommentNode {
			t.Errorf("%q begins a comment", name)
		}
		switch n.Data {
		case "script", "img", "iframe", "object", "svg", "form", "input", "base":
			if n.Type == xhtml.ElementNode {
				t.Errorf("%q makes an element %s", name, n.Data)
			}
		case "style":
			styles++
		case "table":
			tables++
		}
		for _, a := range n.Attr {
			require.False(t, strings.HasPrefix(a.Key, "on"), "%q makes an attribute %s", name, a.Key)
			if a.Key == "href" {
				require.True(t, strings.HasPrefix(a.Val, "https://dash.example/"), "%q leads to %s", name, a.Val)
			}
		}
	}
	require.Equal(t, 1, styles, "%q", name)
	require.GreaterOrEqual(t, tables, 3)
	visible := plain(html.UnescapeString(m.HTML))
	require.Contains(t, visible, "Rental deposits", "what stands around the name is still there: %q", name)
}

func countLinks(page string) int { return strings.Count(page, "<a ") }

func TestLayout_IsAccessibleAndLoadsNothing(t *testing.T) {
	mail := mails.PartnerUnlinked{Operator: ada(""), PartnerName: "Acme", By: connect.RevokedByAdmin,
		DashboardURL: "https://dash.example"}.Mail(id.ID{1}, now)
	tree, err := xhtml.Parse(strings.NewReader(mail.HTML))
	require.NoError(t, err)
	langs, headings := []string{}, 0
	for n := range tree.Descendants() {
		if n.Type != xhtml.ElementNode {
			continue
		}
		attrs := map[string]string{}
		for _, a := range n.Attr {
			attrs[a.Key] = a.Val
			require.NotContains(t, []string{"src", "background", "srcset"}, a.Key, "opening a mail tells nobody")
		}
		if lang := attrs["lang"]; lang != "" {
			langs = append(langs, lang)
		}
		switch n.Data {
		case "table":
			require.Equal(t, "presentation", attrs["role"], "a table of the layout is none for a screen reader")
		case "h1":
			headings++
		case "link", "img":
			t.Errorf("the mail loads something: %s", n.Data)
		}
	}
	require.Equal(t, []string{"en", "en", "fr"}, langs, "of the page and of its parts")
	require.Equal(t, 2, headings)
	require.NotContains(t, mail.HTML, "url(")
	require.NotContains(t, mail.HTML, "@import")
	require.Contains(t, mail.HTML, "prefers-color-scheme: dark")
	require.Less(t, len(mail.HTML), 20_000, "mail programs cut long mails")
}

// Each inline colour has a class whose dark colour replaces it, or dark letters would stand on a dark ground.
func TestLayout_EveryColourHasADarkForm(t *testing.T) {
	page := mails.DepositLink(link("en")).Mail(id.ID{1}, now).HTML
	coloured := regexp.MustCompile(`<([a-z0-9]+)([^>]*)style="([^"]*)"`).FindAllStringSubmatch(page, -1)
	require.Greater(t, len(coloured), 10)
	for _, found := range coloured {
		if regexp.MustCompile(`(^|;|-)color:|background:|border[a-z-]*:1px`).MatchString(found[3]) {
			require.Regexp(t, `class="`, found[2], "%s with %s", found[1], found[3])
		}
	}
}
