package dashboard_test

import (
	"context"
	"net/http"
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/connect/connecttest"
	"partnerdeposits/cmd/servicetest"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
	"partnerdeposits/ports"
)

func TestMain(m *testing.M) { servicetest.Main(m) }

const key = servicetest.ConnectSecret

// linked gives an operator who signed up through a connect URL of the partner, with the account that it made.
func linked(t *testing.T, s *connecttest.Server, email, slug string) (*connecttest.Browser, id.ID) {
	t.Helper()
	b := s.Browser(t)
	query := connecttest.Query(key, slug, "op-"+email[:1], unix(s), "")
	sent := b.Submit("/register?"+query, map[string]string{"email": email, "password": "correct horse battery", "companyName": "Chalets of " + email})
	require.Equal(t, http.StatusSeeOther, sent.Status)
	_, account, err := s.Postgres.OperatorByEmail(t.Context(), email)
	require.NoError(t, err)
	return b, account.ID
}

// deposits adds n pending deposits, a minute apart.
func deposits(t *testing.T, s *connecttest.Server, p partner.Partner, account id.ID, n int) []string {
	t.Helper()
	var references []string
	require.NoError(t, s.Postgres.WithinTx(t.Context(), func(ctx context.Context, repos ports.Repositories) error {
		for i := range n {
			created := s.Clock.Now().Add(time.Duration(i) * time.Minute)
			terms := deposit.Draft{
				Amount: 125_050 + money.Cents(i), ContractStartAt: created, ContractEndAt: created.Add(72 * time.Hour), RentalContract: "<b>" + strconv.Itoa(i),
			}
			from := deposit.Origin{AccountID: account, PartnerID: p.ID, ByPartnerAPI: true, ExternalID: "x"}
			d := deposit.New(servicetest.NewID(), "D-TEST-"+account.Encode()[20:]+strconv.Itoa(i), from, terms, nil, created)
			references = append(references, d.Reference)
			if err := repos.Deposits.Insert(ctx, d, secret.Text("token-"+d.Reference)); err != nil {
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
	tag, err := s.Pool.Exec(t.Context(), `UPDATE deposits SET status = 'captured', status_reason = 'claim', captured_at = now(), captured_cents = $2,
		activated_at = now(), expires_at = now() WHERE reference = $1`, reference, int64(amount))
	require.NoError(t, err)
	require.EqualValues(t, 1, tag.RowsAffected())
}

func unix(s *connecttest.Server) string { return strconv.FormatInt(s.Clock.Now().Unix(), 10) }
