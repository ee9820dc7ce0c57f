//go:build !unit

package deposits_test

import (
	"context"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/app/deposits"
	"partnerdeposits/app/payments"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/partner"
	"partnerdeposits/lab/checkouttest"
	"partnerdeposits/lab/servicetest"
	ports "partnerdeposits/ports/platform"
)

// noticed is a service with an operator whose address is verified.
type noticed struct {
	*servicetest.Kit
	t        *testing.T
	clock    *servicetest.Clock
	partner  partner.Partner
	account  connect.Account
	operator string // e-mail
	anyone   bool   // addresses are not verified
}

func newNoticed(t *testing.T) *noticed {
	t.Helper()
	clock := servicetest.NewClock(time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC))
	n := &noticed{t: t, clock: clock, Kit: servicetest.New(t, func(s *servicetest.Setup) { s.Clock = clock })}
	n.partner, n.account = n.CreatePartner("acme"), n.CreateAccount("Chalets")
	n.LinkAccount(n.partner.ID, n.account.ID, "op")
	_, o, err := n.Postgres.Operators.AccountByID(t.Context(), n.account.ID)
	require.NoError(t, err)
	n.operator = o.Email
	n.verified(true)
	return n
}

func (n *noticed) exec(sql string, args ...any) {
	n.t.Helper()
	_, err := n.Pool.Exec(n.t.Context(), sql, args...)
	require.NoError(n.t, err)
}

func (n *noticed) verified(is bool) {
	n.t.Helper()
	n.exec(`UPDATE operators SET verified_at = CASE WHEN $1 THEN now() END`, is)
}

// round runs the jobs of so many dispatchers at once.
func (n *noticed) round(dispatchers int) {
	n.t.Helper()
	jobs := deposits.OperatorNoticeMailer{
		Notices: n.Postgres.OperatorNotices, Mails: n.Postgres.Mails, UnitOfWork: n.Postgres, Addresses: n.Postgres.Addresses,
		Clock: n.clock, Entropy: entropy{}, DashboardURL: "https://dash.example", VerifyAddresses: !n.anyone,
	}.ScheduledJobs(time.Second)
	require.GreaterOrEqual(n.t, jobs[1].Every, 15*time.Minute, "a look at every account")
	var wg sync.WaitGroup
	for range dispatchers {
		for _, job := range jobs {
			wg.Go(func() {
				_, err := job.Run(n.t.Context())
				require.NoError(n.t, err)
			})
		}
	}
	wg.Wait()
}

type entropy struct{ ports.Entropy }

func (entropy) NewID() id.ID { return servicetest.NewID() }

func (n *noticed) subjects() []string {
	n.t.Helper()
	out := []string{}
	for _, m := range n.ListMails(n.operator) {
		out = append(out, m.Subject)
	}
	return out
}

// active adds deposits whose covers end after so long.
func (n *noticed) active(count int, covered time.Duration) {
	n.t.Helper()
	for range count {
		now := n.clock.Now()
		n.CreateDeposit(n.origin(), n.draft(), func(d *deposit.Deposit) {
			d.Status, d.ActivatedAt, d.ExpiresAt = deposit.Active, now, now.Add(covered)
		})
	}
}

func (n *noticed) origin() deposit.Origin {
	return deposit.Origin{AccountID: n.account.ID, PartnerID: n.partner.ID, PartnerName: "Acme", ByPartnerAPI: true}
}

func (n *noticed) draft() deposit.Draft {
	return deposit.Draft{Amount: 30_000, ContractStartAt: n.clock.Now().Add(24 * time.Hour),
		ContractEndAt: n.clock.Now().Add(72 * time.Hour), RentalContract: "BK-1"}
}

// secured adds a deposit, and secures it as its tenant would.
func (n *noticed) secured() *deposit.Deposit {
	n.t.Helper()
	d, _ := n.CreateDeposit(n.origin(), n.draft())
	_, err := n.Payments.Simulate(n.t.Context(), n.partner.ID, d.ID, payments.SimulatedActivation)
	require.NoError(n.t, err)
	return d
}

func TestSecured_IsMailedOnce_HoweverManyDispatchers(t *testing.T) {
	t.Parallel()
	n := newNoticed(t)
	d := n.secured()
	require.Equal(t, 1, n.Count("secured_notices", "deposit_id = $1", d.ID))
	require.Zero(t, n.Count("mails", ""), "the tenant's request writes no mail")
	n.round(8)
	n.round(1)
	require.Equal(t, []string{"Deposit " + d.Reference + " is secured / La caution " + d.Reference + " est garantie"},
		n.subjects())
	require.Contains(t, n.ListMails(n.operator)[0].Body, "https://dash.example/dashboard/deposits/"+id.Deposit.Of(d.ID))
	require.Zero(t, n.Count("secured_notices", ""))
}

// The operator reads the days that the desk shows.
func TestNotices_TellDaysAndTimesOfTheAccountsZone(t *testing.T) {
	t.Parallel()
	n := newNoticed(t)
	n.exec(`UPDATE accounts SET timezone = 'Pacific/Pago_Pago'`) // 22:00 of the day before
	n.secured()
	n.round(1)
	body := strings.ReplaceAll(n.ListMails(n.operator)[0].Body, "\u00a0", " ")
	require.Contains(t, body, "22 November 2026 to 24 November 2026")
	require.Contains(t, body, "22:00 SST")
	n.active(1, 48*time.Hour)
	n.clock.Add(time.Hour)
	n.round(1)
	body = strings.ReplaceAll(n.ListMails(n.operator)[1].Body, "\u00a0", " ")
	require.Contains(t, body, "€300.00, 23 November 2026, 22:00 SST")
}

// The mail has a caller's words, so an address that nobody has verified gets none, not even later.
func TestSecured_AnAddressThatIsNotVerified_GetsNoMail(t *testing.T) {
	t.Parallel()
	n := newNoticed(t)
	n.verified(false)
	n.secured()
	n.active(1, 48*time.Hour)
	n.round(1)
	require.Empty(t, n.subjects())
	require.Zero(t, n.Count("secured_notices", ""))
	n.anyone = true
	n.round(1)
	require.Len(t, n.subjects(), 1, "without verification the covers are told")
}

func TestCovers_AreToldOnceADay_HoweverManyDispatchers(t *testing.T) {
	t.Parallel()
	n := newNoticed(t)
	n.active(22, 48*time.Hour)
	n.active(3, 8*24*time.Hour)
	n.clock.Set(time.Date(2026, 11, 22, 5, 59, 0, 0, time.UTC))
	n.round(1)
	require.Empty(t, n.subjects(), "not at night")
	n.clock.Set(time.Date(2026, 11, 22, 9, 0, 0, 0, time.UTC))
	n.round(8)
	n.round(1)
	require.Equal(t,
		[]string{"The cover of 22 deposits ends within 7 days / La couverture de 22 cautions prend fin dans les 7 jours"},
		n.subjects())
	require.Contains(t, n.ListMails(n.operator)[0].Body, "2 more are on your pages.")

	n.active(1, 24*time.Hour)
	n.clock.Add(14 * time.Hour)
	n.round(2)
	require.Len(t, n.subjects(), 1, "a second mail waits for the next day")
	n.clock.Add(10 * time.Hour) // the short cover has ended
	n.round(2)
	require.Len(t, n.subjects(), 1, "nothing new: the three end in 7 days and one minute")
	n.clock.Add(time.Hour)
	n.round(2)
	require.Equal(t, "The cover of 25 deposits ends within 7 days", n.subjects()[1][:43])
	n.clock.Add(24 * time.Hour)
	n.round(1)
	require.Len(t, n.subjects(), 2, "a cover is news once")
	n.active(1, 30*time.Hour)
	n.round(1)
	require.Len(t, n.subjects(), 3, "a cover that begins within its last days is news, too")
}

func TestCovers_TurnedOff_AreNotTold(t *testing.T) {
	t.Parallel()
	n := newNoticed(t)
	_, o, err := n.Postgres.Operators.AccountByID(t.Context(), n.account.ID)
	require.NoError(t, err)
	set := func(wanted bool) {
		n.RunInTransaction(func(ctx context.Context, r *postgres.Store) error {
			return r.Operators.SetCoverMails(ctx, o.ID, wanted)
		})
		got, err := n.Postgres.Operators.WantsCoverMails(t.Context(), o.ID)
		require.NoError(t, err)
		require.Equal(t, wanted, got)
	}
	set(false)
	n.active(1, 48*time.Hour)
	n.round(1)
	require.Empty(t, n.subjects())
	require.Zero(t, n.Count("cover_mails", ""))
	set(true)
	n.round(1)
	require.Len(t, n.subjects(), 1)
}

// tellSecured runs the job that mails about secured deposits.
func tellSecured(b checkouttest.Steps) {
	b.T.Helper()
	job := deposits.OperatorNoticeMailer{
		Notices: b.Postgres.OperatorNotices, Mails: b.Postgres.Mails, UnitOfWork: b.Postgres, Addresses: b.Postgres.Addresses,
		Clock: b.Clock, Entropy: entropy{}, DashboardURL: "https://dash.example", VerifyAddresses: true,
	}.ScheduledJobs(1)[0]
	_, err := job.Run(b.Ctx())
	require.NoError(b.T, err)
}

func secured(b checkouttest.Steps) *deposit.Deposit {
	b.T.Helper()
	d, token := b.CreateDeposit(b.T)
	b.SubmitCheckoutForm(token, checkouttest.TenantGraceHopper)
	b.PayOnPaymentPage(d.ID, true)
	b.ReturnFromPayment(token)
	return b.LoadDeposit(b.T, d.ID)
}

func TestFeeMail_TenantPaid_IsToldTheFeeAndTheWordsOnce(t *testing.T) {
	b := checkouttest.NewSteps(t)
	secured(b)
	require.Empty(t, b.ListMails(checkouttest.TenantGraceHopper.Email))
	tellSecured(b)
	tellSecured(b)
	got := b.ListMails(checkouttest.TenantGraceHopper.Email)
	require.Len(t, got, 1)
	require.Contains(t, got[0].Subject, "€17.50")
	require.Contains(t, got[0].Body, "I agree that up to €500.00 may be charged to my card for claims until")
	require.Len(t, b.ListMails(""), 1, "the operator's address is not verified")
}

func TestFeeMail_ClientErasedSince_GoesToTheSealedAddress(t *testing.T) {
	b := checkouttest.NewSteps(t)
	d := secured(b)
	_, err := b.Clients.EraseByAdmin(b.Ctx(), d.ClientID)
	require.NoError(t, err)
	tellSecured(b)
	require.Len(t, b.ListMails(checkouttest.TenantGraceHopper.Email), 1)
}

func TestFeeMail_SimulatedPayment_TellsNobody(t *testing.T) {
	b := checkouttest.NewSteps(t)
	d, _ := b.CreateDeposit(t, checkouttest.WithClient("tina@example.com", "Tina", "Tenant"))
	_, err := b.Payments.Simulate(context.WithoutCancel(t.Context()), b.PartnerID, d.ID, payments.SimulatedActivation)
	require.NoError(t, err)
	tellSecured(b)
	require.Zero(t, b.Count("secured_notices", ""), "the notice is taken")
	require.Empty(t, b.ListMails(""))
}
