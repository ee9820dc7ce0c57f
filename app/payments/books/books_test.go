//go:build !unit

package books_test

import (
	"context"
	"errors"
	"iter"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/app/payments/books"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	"partnerdeposits/lab/checkouttest"
	"partnerdeposits/lab/servicetest"
	paymentports "partnerdeposits/ports/payments"
	ports "partnerdeposits/ports/platform"
)

func TestMain(m *testing.M) { servicetest.RunTests(m) }

// theirs are books of a provider.
type theirs struct {
	paymentports.ProviderBookReader
	entries []paymentports.BookEntry
	err     error
	asked   int
}

func (b *theirs) BookEntries(_ context.Context, from, to time.Time) iter.Seq2[paymentports.BookEntry, error] {
	b.asked++
	return func(yield func(paymentports.BookEntry, error) bool) {
		for _, e := range b.entries {
			if !e.At.Before(from) && e.At.Before(to) && !yield(e, nil) {
				return
			}
		}
		if b.err != nil {
			yield(paymentports.BookEntry{}, b.err)
		}
	}
}

type world struct {
	checkouttest.Steps
	theirs   *theirs
	books    *books.Service
	from, to time.Time
}

func setup(t *testing.T) *world {
	w := &world{Steps: checkouttest.NewSteps(t), theirs: &theirs{}}
	w.from, w.to = w.Clock.Now().Add(-time.Hour), w.Clock.Now().Add(time.Hour)
	w.books = w.BuildServices(func(p *servicetest.Deps) { p.Books = w.theirs }).Books
	return w
}

// payment adds a payment of a new deposit, and its record at the provider.
func (w *world) payment(kind deposit.PaymentKind, status deposit.PaymentStatus,
	at time.Time) (deposit.Payment, *paymentports.BookEntry) {
	w.T.Helper()
	d, _ := w.CreateDeposit(w.T)
	p := deposit.Payment{ID: servicetest.NewID(), DepositID: d.ID, Kind: kind, Amount: 1_750,
		Status: deposit.PaymentProcessing, ProviderRef: "pi_ours", CreatedAt: at, CheckAt: at}
	w.RunInTransaction(func(ctx context.Context, r *postgres.Store) error { return r.Payments.Insert(ctx, p) })
	if status != deposit.PaymentProcessing {
		p.Status, p.SettledAt = status, at
		w.RunInTransaction(func(ctx context.Context, r *postgres.Store) error { return r.Payments.Update(ctx, p) })
	}
	w.theirs.entries = append(w.theirs.entries, paymentports.BookEntry{
		Kind: paymentports.BookEntryPayment, PaymentID: p.ID, DepositID: d.ID, Ref: "pi_theirs", Amount: p.Amount,
		Currency: paymentports.PaymentCurrency, Status: "succeeded", At: at,
	})
	return p, &w.theirs.entries[len(w.theirs.entries)-1]
}

func (w *world) report() books.ReconciliationReport {
	w.T.Helper()
	r, err := w.books.Reconcile(w.Ctx(), w.from, w.to)
	require.NoError(w.T, err)
	return r
}

// sides are the differences in short.
func sides(r books.ReconciliationReport) []string {
	out := []string{}
	for _, d := range r.Differences {
		out = append(out, d.Ours+" | "+d.Theirs)
	}
	return out
}

func TestReconcile_BooksThatAgree_HaveNoDifferenceAndTellTheMoneyDue(t *testing.T) {
	w := setup(t)
	now := w.Clock.Now()
	w.payment(deposit.PaymentKindFee, deposit.PaymentSucceeded, now)
	p, _ := w.payment(deposit.PaymentKindCollection, deposit.PaymentSucceeded, now)
	refund := deposit.Refund{
		ID: servicetest.NewID(), PaymentID: p.ID, DepositID: p.DepositID, Amount: 250, Reason: deposit.RefundReasons[1],
		Status: deposit.RefundPending, Actor: actor.Staff, CreatedAt: now, CheckAt: now,
	}
	w.RunInTransaction(func(ctx context.Context, r *postgres.Store) error { return r.Refunds.Insert(ctx, refund) })
	refund.Status, refund.SettledAt = deposit.RefundSucceeded, now
	w.RunInTransaction(func(ctx context.Context, r *postgres.Store) error {
		_, err := r.Refunds.Settle(ctx, refund)
		return err
	})
	w.theirs.entries = append(w.theirs.entries, paymentports.BookEntry{Kind: paymentports.BookEntryRefund,
		RefundID:  refund.ID,
		PaymentID: p.ID, Ref: "re_1", Amount: 250, Currency: paymentports.PaymentCurrency, Status: "succeeded", At: now})
	got := w.report()
	require.Empty(t, got.Differences)
	require.Equal(t, 3, got.Checked)
	require.Equal(t, []paymentports.AccountTotals{
		{AccountID: w.AccountID, CompanyName: checkouttest.CompanyName, Collected: 1_750, Refunded: 250}}, got.Due)
}

func TestReconcile_RecordsOfEachStatusAndTime_AreFound(t *testing.T) {
	w := setup(t)
	now := w.Clock.Now()
	for name, c := range map[string]struct {
		make func()
		want []string
	}{
		"not at the provider": {func() {
			w.payment(deposit.PaymentKindFee, deposit.PaymentSucceeded, now)
			w.theirs.entries = nil
		}, []string{"payment succeeded 17.50 | "}},
		"ended here, paid there": {func() { w.payment(deposit.PaymentKindFee, deposit.PaymentVoided, now) },
			[]string{"payment voided 17.50 | payment succeeded 17.50"}},
		"not settled here": {func() { w.payment(deposit.PaymentKindFee, deposit.PaymentProcessing, now) },
			[]string{"payment processing 17.50 | payment succeeded 17.50"}},
		"a dispute not told yet": {func() {
			w.theirs.entries = []paymentports.BookEntry{{Kind: paymentports.BookEntryDispute, Ref: "dp_x", Amount: 5,
				Currency: paymentports.PaymentCurrency, Status: "lost", At: now}}
		}, []string{" | dispute lost 0.05"}},
		"settled late, paid in time": {func() {
			p, e := w.payment(deposit.PaymentKindFee, deposit.PaymentSucceeded, now)
			e.At = now.Add(-20 * time.Hour)
			_ = p
		}, []string{}},
		"outside of the time": {func() { w.payment(deposit.PaymentKindFee, deposit.PaymentVoided, now.Add(-3*time.Hour)) },
			[]string{}},
	} {
		w.theirs.entries = nil
		_, err := w.Pool.Exec(w.Ctx(), `TRUNCATE collections, collection_steps, refunds, payments CASCADE`)
		require.NoError(t, err)
		c.make()
		require.Equal(t, c.want, sides(w.report()), name)
	}
}

func TestReconcile_MoreThanABatch_ComparesAll(t *testing.T) {
	w := setup(t)
	p, e := w.payment(deposit.PaymentKindFee, deposit.PaymentSucceeded, w.Clock.Now())
	unknown := *e
	unknown.PaymentID = servicetest.NewID()
	for range 1_100 {
		w.theirs.entries = append(w.theirs.entries, unknown)
	}
	got := w.report()
	require.Equal(t, 1_101, got.Checked)
	require.Len(t, got.Differences, 1_100)
	for _, d := range got.Differences {
		require.NotEqual(t, p.ID, d.PaymentID)
	}
}

func TestRunDaily_SeveralDispatchers_CompareOnceADay(t *testing.T) {
	w := setup(t)
	w.payment(deposit.PaymentKindFee, deposit.PaymentVoided, w.Clock.Now().Add(-2*time.Hour))
	for range 3 {
		run, err := w.books.ReconcileDaily(w.Ctx())
		require.NoError(t, err)
		require.Equal(t, paymentports.ReconciliationRun{EndedAt: w.Clock.Now(), Checked: 1, Differences: 1}, run)
	}
	require.Equal(t, 1, w.theirs.asked)
	require.Equal(t, 1, strings.Count(w.Log.String(), "our books and those of the payment provider differ"))
	w.Clock.Add(24 * time.Hour)
	w.theirs.err = errors.New("away")
	_, err := w.books.ReconcileDaily(w.Ctx())
	require.ErrorIs(t, err, w.theirs.err)
	w.theirs.err, w.theirs.entries = nil, nil
	run, err := w.books.ReconcileDaily(w.Ctx())
	require.NoError(t, err)
	require.Equal(t, 1, run.Differences, "the last result stands until the comparison is made again")
	w.Clock.Add(time.Hour - time.Second)
	run, err = w.books.ReconcileDaily(w.Ctx())
	require.NoError(t, err)
	require.Zero(t, run.Differences)
	require.Equal(t, 3, w.theirs.asked)
}

// The sandbox has books, too. Its times are those of the database.
func TestReconcile_TheSandboxsBooks_Agree(t *testing.T) {
	w := setup(t)
	w.Clock.Set(time.Now())
	d, token := w.CreateDeposit(t)
	w.SubmitCheckoutForm(token, checkouttest.TenantGraceHopper)
	w.PayOnPaymentPage(d.ID, true)
	w.ReturnFromPayment(token)
	sandbox := w.BuildServices(func(p *servicetest.Deps) { p.Books = w.Sandbox }).Books
	got, err := sandbox.Reconcile(w.Ctx(), time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	require.NoError(t, err)
	require.Equal(t, 1, got.Checked)
	require.Empty(t, got.Differences)
	_, err = w.Pool.Exec(w.Ctx(), `UPDATE sandbox_payments SET amount_cents = amount_cents + 1`)
	require.NoError(t, err)
	got, err = sandbox.Reconcile(w.Ctx(), time.Now().Add(-time.Hour), time.Now().Add(time.Hour))
	require.NoError(t, err)
	require.Len(t, got.Differences, 1)
	require.Equal(t, deposit.Fee(50_000), money.Cents(1_750))
}

// paid adds a payment that succeeded at a time, of a new deposit of the account.
func (w *world) paid(account id.ID, kind deposit.PaymentKind, amount money.Cents, at time.Time) deposit.Payment {
	w.T.Helper()
	d, _ := w.CreateDeposit(w.T, func(d *deposit.Deposit) { d.AccountID = account },
		checkouttest.WithClient("grace@example.com", "Grace", "Hopper"))
	p := deposit.Payment{ID: servicetest.NewID(), DepositID: d.ID, Kind: kind, Amount: amount,
		Status: deposit.PaymentProcessing, CreatedAt: at.Add(-48 * time.Hour), CheckAt: at}
	w.RunInTransaction(func(ctx context.Context, r *postgres.Store) error { return r.Payments.Insert(ctx, p) })
	p.Status, p.SettledAt, p.Attempts = deposit.PaymentSucceeded, at, 1
	w.RunInTransaction(func(ctx context.Context, r *postgres.Store) error { return r.Payments.Update(ctx, p) })
	return p
}

// refund gives a part of a payment back; the refund ends at a time, unless it stays pending.
func (w *world) refund(p deposit.Payment, amount money.Cents, status deposit.RefundStatus, at time.Time) {
	w.T.Helper()
	r := deposit.Refund{ID: servicetest.NewID(), PaymentID: p.ID, DepositID: p.DepositID, Amount: amount,
		Reason: deposit.RefundReasons[1], Status: deposit.RefundPending, Actor: actor.Staff, CreatedAt: at, CheckAt: at}
	w.RunInTransaction(func(ctx context.Context, s *postgres.Store) error { return s.Refunds.Insert(ctx, r) })
	if status != deposit.RefundPending {
		r.Status, r.SettledAt = status, at
		w.RunInTransaction(func(ctx context.Context, s *postgres.Store) error {
			_, err := s.Refunds.Settle(ctx, r)
			return err
		})
	}
}

func (w *world) dispute(ref string, p deposit.Payment, amount money.Cents, status string, at time.Time) {
	w.T.Helper()
	w.RunInTransaction(func(ctx context.Context, r *postgres.Store) error {
		_, _, ok, err := r.Disputes.Store(ctx, paymentports.Dispute{Ref: ref, PaymentID: p.ID, Amount: amount,
			Reason: "fraudulent", Status: status, CreatedAt: at}, at)
		require.True(w.T, ok)
		return err
	})
}

// statement reads a month whole, three claims a page, and checks that its claims add up to its sums.
func (w *world) statement(account id.ID, month time.Time) (paymentports.AccountTotals, []paymentports.DebtMovement) {
	w.T.Helper()
	page := ports.Page{Limit: 3}
	var all []paymentports.DebtMovement
	for {
		st, err := w.books.MonthlyStatement(w.Ctx(), account, month, page)
		require.NoError(w.T, err)
		all = append(all, st.Debts.Items...)
		if page.Cursor = st.Debts.Next; page.Cursor.IsZero() {
			sum := paymentports.AccountTotals{AccountID: account, CompanyName: st.Due.CompanyName}
			for _, c := range all {
				sum.Collected, sum.Refunded, sum.Disputed = sum.Collected+c.Collected, sum.Refunded+c.Refunded,
					sum.Disputed+c.Disputed
			}
			require.Equal(w.T, st.Due, sum)
			return st.Due, all
		}
	}
}

func TestStatement_OfEachAccountAndMonth_IsWhatTheBooksSayIsDue(t *testing.T) {
	w := setup(t)
	other := w.CreateAccount("Autre compte").ID
	october := time.Date(2026, 10, 1, 0, 0, 0, 0, time.UTC)
	november, december := october.AddDate(0, 1, 0), october.AddDate(0, 2, 0)
	const tick = time.Microsecond // as exact as times are
	for n, account := range []id.ID{w.AccountID, other} {
		cents := money.Cents(n) // sums of the accounts differ
		first := w.paid(account, deposit.PaymentKindCollection, 10_001+cents, october)
		w.paid(account, deposit.PaymentKindCollection, 20_033, november.Add(-tick))
		w.paid(account, deposit.PaymentKindCollection, 33_333+cents, november)
		last := w.paid(account, deposit.PaymentKindCollection, 7_777, december.Add(-tick))
		w.paid(account, deposit.PaymentKindCollection, 4_444, november.Add(time.Hour))
		w.paid(account, deposit.PaymentKindCollection, 5_555, november.Add(time.Hour))
		w.paid(account, deposit.PaymentKindCollection, 9_999, december)
		fee := w.paid(account, deposit.PaymentKindFee, 1_750, november.Add(time.Hour))
		w.refund(first, 1_234, deposit.RefundSucceeded, november.Add(-tick))
		w.refund(first, 2_345+cents, deposit.RefundSucceeded, november)
		w.refund(last, 7_777, deposit.RefundSucceeded, december)
		w.refund(last, 1, deposit.RefundFailed, november.Add(time.Hour))
		w.refund(last, 1, deposit.RefundPending, november.Add(time.Hour))
		w.refund(fee, 1_750, deposit.RefundSucceeded, november.Add(time.Hour))
		w.dispute("dp_first"+string(rune('a'+n)), first, 10_001, "lost", november.Add(time.Hour))
		w.dispute("dp_last"+string(rune('a'+n)), last, 7_777, "needs_response", december)
		w.dispute("dp_fee"+string(rune('a'+n)), fee, 1_750, "lost", november.Add(time.Hour))
	}
	all := map[id.ID][3]paymentports.AccountTotals{
		w.AccountID: {
			{Collected: 10_001 + 20_033, Refunded: 1_234},
			{Collected: 33_333 + 7_777 + 4_444 + 5_555, Refunded: 2_345, Disputed: 10_001},
			{Collected: 9_999, Refunded: 7_777, Disputed: 7_777},
		},
		other: {
			{Collected: 10_002 + 20_033, Refunded: 1_234},
			{Collected: 33_334 + 7_777 + 4_444 + 5_555, Refunded: 2_346, Disputed: 10_001},
			{Collected: 9_999, Refunded: 7_777, Disputed: 7_777},
		},
	}
	for i, month := range []time.Time{october, november, december} {
		w.from, w.to = month, month.AddDate(0, 1, 0)
		due := w.report().Due
		require.Len(t, due, 2)
		for _, theirs := range due {
			got, _ := w.statement(theirs.AccountID, month.Add(time.Hour))
			require.Equal(t, theirs, got, "the month of %s", month)
			want := all[theirs.AccountID][i]
			want.AccountID, want.CompanyName = theirs.AccountID, theirs.CompanyName
			require.Equal(t, want, got)
			require.Equal(t, want.Collected-want.Refunded, got.AmountOwedToOperator())
		}
	}

	_, claims := w.statement(w.AccountID, november)
	require.Len(t, claims, 5)
	require.True(t, slices.IsSortedFunc(claims,
		func(a, b paymentports.DebtMovement) int { return b.PaidAt.Compare(a.PaidAt) }))
	earlier := claims[4]
	require.Equal(t, paymentports.DebtMovement{PaymentID: earlier.PaymentID, DepositID: earlier.DepositID,
		Reference: earlier.Reference, Tenant: "Grace Hopper", CapturedAt: october.Add(-48 * time.Hour), PaidAt: october,
		Refunded: 2_345, Disputed: 10_001, RefundedAt: november, RefundedInAll: 1_234 + 2_345, Dispute: "lost"}, earlier,
		"paid in October, given back in part and disputed in November")
	require.Equal(t, "needs_response", claims[0].Dispute, "which began in December")
	require.Zero(t, claims[0].Disputed)
}

func TestStatement_ThePresentMonth_IsThatOfUTC(t *testing.T) {
	w := setup(t)
	midnight := time.Date(2026, 12, 1, 0, 0, 0, 0, time.UTC)
	w.Clock.Set(midnight.Add(-time.Microsecond))
	for _, want := range []time.Time{midnight.AddDate(0, -1, 0), midnight} {
		st, err := w.books.MonthlyStatement(w.Ctx(), w.AccountID, time.Time{}, ports.Page{Limit: 3})
		require.NoError(t, err)
		require.True(t, st.Present)
		require.Equal(t, ports.TimeSpan{From: want, To: want.AddDate(0, 1, 0)}, st.Month)
		require.Equal(t, paymentports.AccountTotals{AccountID: w.AccountID, CompanyName: checkouttest.CompanyName}, st.Due)
		require.Empty(t, st.Debts.Items)
		w.Clock.Set(midnight)
	}
	st, err := w.books.MonthlyStatement(w.Ctx(), w.AccountID, midnight.Add(-1), ports.Page{Limit: 3})
	require.NoError(t, err)
	require.False(t, st.Present)
}
