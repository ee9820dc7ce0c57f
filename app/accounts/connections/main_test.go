//go:build !unit

package connections_test

import (
	"strconv"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/accounts/connections"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/partner"
	"partnerdeposits/lab/servicetest"
)

func TestMain(m *testing.M) { servicetest.Main(m) }

const key = servicetest.ConnectSecret

var now = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

type bundle struct {
	*connections.Service
	kit *servicetest.Kit
}

func setup(t *testing.T) bundle {
	t.Helper()
	kit := servicetest.New(t, func(s *servicetest.Setup) {
		s.Config.Environment, s.Config.DashboardBaseURL, s.Clock = partner.Production, "https://dash.example",
			servicetest.NewClock(now)
	})
	return bundle{Service: kit.Connections, kit: kit}
}

func request(slug, externalID string) connections.Request {
	ts := strconv.FormatInt(now.Unix(), 10)
	return connections.Request{
		Params: connect.Params{Partner: slug, ExternalID: externalID, TS: ts, Sig: connect.Sign(key, slug, externalID, ts)}}
}

func form(email string) connect.SignUp {
	return connect.SignUp{Email: email, Password: "correct horse", CompanyName: "Chalets"}
}

// linked signs an operator up with the partner's connect URL and gives the result.
func (b bundle) linked(t *testing.T, slug, externalID, email string) connections.Result {
	t.Helper()
	result, err := b.SignUp(t.Context(), request(slug, externalID), form(email), connections.Browser{})
	require.NoError(t, err)
	require.Equal(t, connect.Linked, result.Outcome)
	return result
}
