package dashboard_test

import (
	"context"
	"net/http"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"golang.org/x/net/html"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/lab/connecttest"
	"partnerdeposits/lab/servicetest"
)

func TestMain(m *testing.M) { servicetest.RunTests(m) }

const key = servicetest.ConnectSecret

// linked gives an operator who signed up through a connect URL of the partner, with the account that it made.
func linked(t *testing.T, s *connecttest.Server, email, slug string) (*connecttest.Browser, id.ID) {
	t.Helper()
	b := s.NewBrowser(t)
	query := connecttest.SignedQuery(key, slug, "op-"+email[:1], unix(s), "")
	sent := b.Submit("/register?"+query,
		map[string]string{"email": email, "password": "correct horse battery", "companyName": "Chalets of " + email})
	require.Equal(t, http.StatusSeeOther, sent.Status)
	_, account, err := s.Postgres.Operators.OperatorByEmail(t.Context(), email)
	require.NoError(t, err)
	return b, account.ID
}

// demo gives a server with a partner, and an operator of that partner with the account. As with every desk below, the
// test runs beside others.
func demo(t *testing.T) (*connecttest.Server, partner.Partner, *connecttest.Browser, id.ID) {
	t.Helper()
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{})
	p := s.CreatePartner("demo")
	b, account := linked(t, s, "a@b.example", "demo")
	return s, p, b, account
}

// deposits adds n pending deposits, a minute apart.
func deposits(t *testing.T, s *connecttest.Server, p partner.Partner, account id.ID, n int) []string {
	t.Helper()
	var references []string
	require.NoError(t, s.Postgres.WithinTx(t.Context(), func(ctx context.Context) error {
		for i := range n {
			created := s.Clock.Now().Add(time.Duration(i) * time.Minute)
			terms := deposit.Draft{
				Amount: 125_050 + money.Cents(i), ContractStartAt: created, ContractEndAt: created.Add(72 * time.Hour),
				RentalContract: "<b>" + strconv.Itoa(i),
			}
			from := deposit.Origin{AccountID: account, PartnerID: p.ID, ByPartnerAPI: true, ExternalID: "x"}
			d := deposit.New(servicetest.NewID(), "D-TEST-"+account.Encode()[20:]+strconv.Itoa(i), from, terms, nil, created)
			references = append(references, d.Reference)
			if err := s.Postgres.Deposits.Insert(ctx, d, secret.Text("token-"+d.Reference)); err != nil {
				return err
			}
		}
		return nil
	}))
	return references
}

// captured makes the deposit one that was captured for amount.
func captured(t *testing.T, s *connecttest.Server, reference string, amount money.Cents) {
	t.Helper()
	tag, err := s.Pool.Exec(t.Context(),
		`UPDATE deposits SET status = 'captured', status_reason = 'claim', captured_at = now(), captured_cents = $2,
		activated_at = now(), expires_at = now() WHERE reference = $1`, reference, int64(amount))
	require.NoError(t, err)
	require.EqualValues(t, 1, tag.RowsAffected())
}

func unix(s *connecttest.Server) string { return strconv.FormatInt(s.Clock.Now().Unix(), 10) }

// secured makes the deposit one whose cover ends after so long.
func secured(t *testing.T, s *connecttest.Server, reference string, covered time.Duration) {
	t.Helper()
	change(t, s,
		`UPDATE deposits SET status = 'active', version = version + 1, activated_at = created_at, expires_at = $2
			WHERE reference = $1`,
		reference, s.Clock.Now().Add(covered))
}

// refused makes the deposit one whose tenant's payment was refused.
func refused(t *testing.T, s *connecttest.Server, reference string) {
	t.Helper()
	change(t, s,
		`UPDATE deposits SET status = 'payment_issue', status_reason = 'fee_failed', version = version + 1
			WHERE reference = $1`,
		reference)
}

func change(t *testing.T, s *connecttest.Server, sql string, args ...any) {
	t.Helper()
	tag, err := s.Pool.Exec(t.Context(), sql, args...)
	require.NoError(t, err)
	require.EqualValues(t, 1, tag.RowsAffected())
}

func depositOf(t *testing.T, s *connecttest.Server, reference string) *deposit.Deposit {
	t.Helper()
	d, err := s.Postgres.Deposits.DepositByReference(t.Context(), reference)
	require.NoError(t, err)
	return d
}

func pathOf(t *testing.T, s *connecttest.Server, reference string) string {
	t.Helper()
	return "/dashboard/deposits/" + id.Deposit.Of(depositOf(t, s, reference).ID)
}

func attribute(n *html.Node, name string) string {
	for _, a := range n.Attr {
		if a.Key == name {
			return a.Val
		}
	}
	return ""
}

// references gives the references of the list on a page, in their order.
func references(page connecttest.Answer) (all []string) {
	for _, code := range page.ElementsByTag("code") {
		if text := code.FirstChild.Data; strings.HasPrefix(text, "D-") {
			all = append(all, text)
		}
	}
	return all
}

// selected gives the value that the page's select shows.
func selected(page connecttest.Answer) string {
	for _, o := range page.ElementsByTag("option") {
		for _, a := range o.Attr {
			if a.Key == "selected" {
				return attribute(o, "value")
			}
		}
	}
	return ""
}

// form gives the number of the form with that intent on the page, for Browser.Send.
func form(t *testing.T, page connecttest.Answer, intent string) int {
	t.Helper()
	for i, f := range page.ElementsByTag("form") {
		for n := range f.Descendants() {
			if n.Data == "input" && attribute(n, "name") == "intent" && attribute(n, "value") == intent {
				return i
			}
		}
	}
	require.Fail(t, "the page has no form "+intent, page.Body)
	return 0
}
