package books

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
)

var (
	noon    = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	payment = id.ID{1}
	refund  = id.ID{2}
	deposit = id.ID{3}
)

// ours is the record of payment; theirs is that of the provider.
func ours(status string) paymentports.OwnBookEntry {
	return paymentports.OwnBookEntry{
		Kind: paymentports.BookEntryPayment, Key: payment.String(), PaymentID: payment, DepositID: deposit,
		ProviderRef: "pi_ours",
		Amount:      1_750, Status: status,
	}
}

func theirs() paymentports.BookEntry {
	return paymentports.BookEntry{
		Kind: paymentports.BookEntryPayment, PaymentID: payment, DepositID: deposit, Ref: "pi_theirs",
		Amount: 1_750, Currency: "eur", Status: "succeeded", At: noon,
	}
}

func TestCompare_EachRecordOfTheProvider(t *testing.T) {
	t.Parallel()
	with := func(change func(*paymentports.BookEntry)) paymentports.BookEntry {
		e := theirs()
		change(&e)
		return e
	}
	differs := func(ours, theirs string) []RecordDifference {
		return []RecordDifference{{
			Kind: paymentports.BookEntryPayment, PaymentID: payment, DepositID: deposit, ProviderRef: "pi_theirs",
			Ours: ours, Theirs: theirs,
		}}
	}
	unnamed := func(kind paymentports.BookEntryKind, ref, theirs string) []RecordDifference {
		return []RecordDifference{{Kind: kind, ProviderRef: ref, Theirs: theirs}}
	}
	none := paymentports.OwnBookEntry{}
	for name, c := range map[string]struct {
		own     paymentports.OwnBookEntry
		entry   paymentports.BookEntry
		checked int
		want    []RecordDifference
	}{
		"alike": {ours("succeeded"), theirs(), 1, nil},
		"another amount": {
			ours("succeeded"), with(func(e *paymentports.BookEntry) { e.Amount = 1_751 }), 1,
			differs("payment succeeded 17.50", "payment succeeded 17.51"),
		},
		"another currency": {
			ours("succeeded"), with(func(e *paymentports.BookEntry) { e.Currency = "usd" }), 1,
			differs("payment succeeded 17.50", "payment succeeded 17.50 usd"),
		},
		"ended here, paid there": {
			ours("voided"), theirs(), 1, differs("payment voided 17.50", "payment succeeded 17.50"),
		},
		"not settled here": {
			ours("processing"), theirs(), 1, differs("payment processing 17.50", "payment succeeded 17.50"),
		},
		"unknown here": {paymentports.OwnBookEntry{}, theirs(), 1, differs("", "payment succeeded 17.50")},
		"names no payment": {
			none, paymentports.BookEntry{Kind: paymentports.BookEntryPayment, Ref: "pi_x", Amount: 5, Currency: "eur",
				Status: "succeeded", At: noon}, 1,
			unnamed(paymentports.BookEntryPayment, "pi_x", "payment succeeded 0.05"),
		},
		"a refund made by hand": {
			none, paymentports.BookEntry{Kind: paymentports.BookEntryRefund, Ref: "re_x", Amount: 5, Currency: "eur",
				Status: "succeeded", At: noon}, 1,
			unnamed(paymentports.BookEntryRefund, "re_x", "refund succeeded 0.05"),
		},
		"a dispute not told yet": {
			none, paymentports.BookEntry{Kind: paymentports.BookEntryDispute, Ref: "dp_x", Amount: 5, Currency: "eur",
				Status: "lost",
				At:     noon}, 1,
			unnamed(paymentports.BookEntryDispute, "dp_x", "dispute lost 0.05"),
		},
		"of the day before": {ours("voided"), with(func(e *paymentports.BookEntry) { e.At = noon.Add(-1) }), 0, nil},
	} {
		compared := comparison{from: noon, seen: map[string]bool{}}
		compared.compare(c.own, c.entry)
		require.Equal(t, ReconciliationReport{Checked: c.checked, Differences: c.want}, compared.report, name)
	}
}

func TestCompare_ChargedTwice_TheSecondChargeIsADifference(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]time.Time{"in the time": noon, "the first before it": noon.Add(-time.Hour)} {
		c := comparison{from: noon, seen: map[string]bool{}}
		first := theirs()
		first.At = at
		c.compare(ours("succeeded"), first)
		c.compare(ours("succeeded"), theirs())
		require.Equal(t, []RecordDifference{{
			Kind: paymentports.BookEntryPayment, PaymentID: payment, DepositID: deposit, ProviderRef: "pi_theirs",
			Theirs: "payment succeeded 17.50",
		}}, c.report.Differences, name)
	}
	nameless := paymentports.BookEntry{Kind: paymentports.BookEntryPayment, Ref: "pi_x", At: noon.Add(-time.Hour)}
	c := comparison{from: noon, seen: map[string]bool{}}
	c.compare(paymentports.OwnBookEntry{}, nameless)
	c.compare(paymentports.OwnBookEntry{}, nameless)
	require.Equal(t, ReconciliationReport{}, c.report, "records that name nothing are no repetitions of each other")
}

func TestMissing_OwnRecordsThatTheProviderDoesNotHave(t *testing.T) {
	t.Parallel()
	c := comparison{from: noon, seen: map[string]bool{}}
	c.missing(paymentports.BookEntryPayment, []paymentports.OwnBookEntry{ours("succeeded")})
	want := ReconciliationReport{Checked: 1, Differences: []RecordDifference{{
		Kind: paymentports.BookEntryPayment, PaymentID: payment, DepositID: deposit, ProviderRef: "pi_ours",
		Ours: "payment succeeded 17.50",
	}}}
	require.Equal(t, want, c.report)

	early := theirs()
	early.At = noon.Add(-20 * time.Hour) // paid there before our success
	c = comparison{from: noon, seen: map[string]bool{}}
	c.compare(ours("succeeded"), early)
	c.missing(paymentports.BookEntryPayment, []paymentports.OwnBookEntry{ours("succeeded")})
	require.Equal(t, ReconciliationReport{}, c.report)
	c.missing(paymentports.BookEntryRefund,
		[]paymentports.OwnBookEntry{{Kind: paymentports.BookEntryRefund, Key: payment.String(), Status: "succeeded"}})
	require.Len(t, c.report.Differences, 1, "a refund is no payment, whatever its key")
}

func TestKeysOf_RecordsThatNameOurs(t *testing.T) {
	t.Parallel()
	require.Equal(t, map[paymentports.BookEntryKind][]string{
		paymentports.BookEntryPayment: {payment.String()}, paymentports.BookEntryRefund: {refund.String()},
		paymentports.BookEntryDispute: {"dp_1"},
	}, keysOf([]paymentports.BookEntry{
		theirs(), {Kind: paymentports.BookEntryPayment, Ref: "pi_x"},
		{Kind: paymentports.BookEntryRefund, RefundID: refund, PaymentID: payment},
		{
			Kind: paymentports.BookEntryRefund, PaymentID: payment, Ref: "re_x"}, {Kind: paymentports.BookEntryDispute,
			Ref: "dp_1"}, {Kind: "fee", Ref: "x"},
	}))
}

func TestReconcile_NoTimeOrNoBooks_IsRefusedBeforeAnyQuestion(t *testing.T) {
	t.Parallel()
	s := New(Deps{})
	_, err := s.Reconcile(t.Context(), noon, noon)
	require.ErrorIs(t, err, ErrInvalidPeriod)
	_, err = s.Reconcile(t.Context(), noon, noon.Add(-1))
	require.ErrorIs(t, err, ErrInvalidPeriod)
	_, err = s.Reconcile(t.Context(), noon, noon.Add(1))
	require.ErrorIs(t, err, ErrNoBooks)
	_, err = s.ReconcileDaily(t.Context())
	require.ErrorIs(t, err, ErrNoBooks)
}
