//go:build !unit

package connections_test

import (
	"context"
	"errors"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/accounts/connections"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/partner"
	"partnerdeposits/lab/servicetest"
	ports "partnerdeposits/ports/platform"
)

func TestRevokes_AtOnce_SendOneMail(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.kit.CreatePartner("demo")
	a := b.linked(t, "demo", "x", "a@b.example")
	atOnce(t, func(int) (connections.ConnectResult, error) {
		_, err := b.EndLinkByPartner(t.Context(), partner.Caller{Partner: p}, a.SignedIn.Account.ID)
		return connections.ConnectResult{}, err
	})
	require.Equal(t, 2, b.kit.Count("mails", ""), "of the link and of its end")
	require.Equal(t, 1, b.kit.Count("audit_log", "action = 'link.revoke'"))
}

// failingTx rolls the transaction back after the use case has written everything.
type failingTx struct{ ports.UnitOfWork }

var errBroken = errors.New("broken")

func (f failingTx) WithinTx(ctx context.Context, fn func(context.Context) error) error {
	return f.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		if err := fn(ctx); err != nil {
			return err
		}
		return errBroken
	})
}

// meanwhile runs a hook before each transaction, after the checks outside.
type meanwhile struct {
	ports.UnitOfWork
	hook func()
}

func (m meanwhile) WithinTx(ctx context.Context, fn func(context.Context) error) error {
	m.hook()
	return m.UnitOfWork.WithinTx(ctx, fn)
}

func TestConnect_WithAURLFromBeforeARevocationMeanwhile_IsExpired(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.kit.CreatePartner("demo")
	a := b.linked(t, "demo", "x", "a@b.example")
	clock := b.kit.Clock.(*servicetest.Clock)
	raced := b.kit.BuildServices(func(parts *servicetest.Deps) {
		parts.UnitOfWork = meanwhile{parts.UnitOfWork, func() {
			clock.Set(now.Add(time.Minute))
			_, err := b.EndLinkByPartner(t.Context(), partner.Caller{Partner: p}, a.SignedIn.Account.ID)
			require.NoError(t, err)
		}}
	}).Connections
	_, err := raced.SignUp(t.Context(), request("demo", "x"), form("c@d.example"), connections.Browser{})
	require.ErrorIs(t, err, connect.ErrURLExpired)
	require.Equal(t, 1, b.kit.Count("operators", ""))
	require.Zero(t, b.kit.Count("account_links", "revoked_at IS NULL"))
}

func TestConnect_ThatFailsAtItsEnd_LeavesNothing(t *testing.T) {
	t.Parallel()
	b := setup(t)
	p := b.kit.CreatePartner("demo")
	a := b.linked(t, "demo", "x", "a@b.example")
	broken := b.kit.BuildServices(func(p *servicetest.Deps) { p.UnitOfWork = failingTx{p.UnitOfWork} }).Connections
	_, err := broken.SignUp(t.Context(), request("demo", "y"), form("c@d.example"), connections.Browser{})
	require.ErrorIs(t, err, errBroken)
	_, err = broken.EndLinkByPartner(t.Context(), partner.Caller{Partner: p}, a.SignedIn.Account.ID)
	require.ErrorIs(t, err, errBroken)
	for table, want := range map[string]int{"operators": 1, "accounts": 1, "sessions": 1, "account_links": 1, "outbox": 1,
		"mails": 1} {
		require.Equal(t, want, b.kit.Count(table, ""), table)
	}
	require.Equal(t, 1, b.kit.Count("account_links", "revoked_at IS NULL"))
}

// atOnce makes 16 calls at once, and counts their outcomes. As many passwords of a network may wait for a hash; a
// further request would be refused.
func atOnce(t *testing.T, call func(i int) (connections.ConnectResult, error)) map[connect.LinkResult]int {
	t.Helper()
	var wg sync.WaitGroup
	results, errs := make([]connections.ConnectResult, 16), make([]error, 16)
	for i := range results {
		wg.Go(func() { results[i], errs[i] = call(i) })
	}
	wg.Wait()
	require.NoError(t, errors.Join(errs...))
	count := map[connect.LinkResult]int{}
	for _, r := range results {
		count[r.Outcome]++
	}
	return count
}

func TestSignUps_AtOnceWithOneExternalID_MakeOneOfEverything(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.kit.CreatePartner("demo")
	require.Equal(t, map[connect.LinkResult]int{connect.OutcomeLinked: 1, connect.OutcomeFailed: 15},
		atOnce(t, func(i int) (connections.ConnectResult, error) {
			return b.SignUp(t.Context(), request("demo", "x"), form(string(rune('a'+i))+"@b.example"), connections.Browser{})
		}))
	for _, table := range []string{"operators", "accounts", "sessions", "account_links", "outbox", "audit_log"} {
		require.Equal(t, 1, b.kit.Count(table, ""), table)
	}
}

func TestLinks_AtOnceOfOneAccount_AreOneLinkAndOneEvent(t *testing.T) {
	t.Parallel()
	b := setup(t)
	b.kit.CreatePartner("demo")
	a := b.linked(t, "demo", "first", "a@b.example")
	_, err := b.RevokeByAdmin(t.Context(), "demo", a.SignedIn.Account.ID)
	require.NoError(t, err)
	require.Equal(t, map[connect.LinkResult]int{connect.OutcomeLinked: 1, connect.OutcomeAlreadyLinked: 15},
		atOnce(t, func(int) (connections.ConnectResult, error) {
			return b.LinkAccount(t.Context(), request("demo", "second"), a.SignedIn.Operator, a.SignedIn.Account)
		}))
	require.Equal(t, 2, b.kit.Count("outbox", ""))
}

func TestMain(m *testing.M) { servicetest.RunTests(m) }

const key = servicetest.ConnectSecret

var now = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

type bundle struct {
	*connections.Service
	kit *servicetest.Kit
}

func setup(t *testing.T) bundle {
	t.Helper()
	kit := servicetest.New(t, func(s *servicetest.Setup) {
		s.Config.Environment, s.Config.DashboardBaseURL, s.Clock = partner.EnvironmentProduction, "https://dash.example",
			servicetest.NewClock(now)
	})
	return bundle{Service: kit.Connections, kit: kit}
}

func request(slug, externalID string) connections.ConnectParams {
	ts := strconv.FormatInt(now.Unix(), 10)
	return connections.ConnectParams{
		URLParams: connect.URLParams{Partner: slug, ExternalID: externalID, TS: ts, Sig: connect.SignURL(key, slug,
			externalID, ts)}}
}

func form(email string) connect.SignUpForm {
	return connect.SignUpForm{Email: email, Password: "correct horse", CompanyName: "Chalets"}
}

// linked signs an operator up with the partner's connect URL and gives the result.
func (b bundle) linked(t *testing.T, slug, externalID, email string) connections.ConnectResult {
	t.Helper()
	result, err := b.SignUp(t.Context(), request(slug, externalID), form(email), connections.Browser{})
	require.NoError(t, err)
	require.Equal(t, connect.OutcomeLinked, result.Outcome)
	return result
}
