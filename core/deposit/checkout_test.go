package deposit_test

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
)

func TestStartCheckout_WhileTheTenantMaySecureTheDeposit(t *testing.T) {
	for name, c := range map[string]struct {
		status       deposit.Status
		expires, end time.Time
		want         error
	}{
		"new":                       {deposit.Pending, start.Add(day), start.Add(day), nil},
		"idle":                      {deposit.Incomplete, start.Add(day), start.Add(day), nil},
		"after a refused payment":   {deposit.PaymentIssue, start.Add(day), start.Add(day), nil},
		"in the last microsecond":   {deposit.Pending, start.Add(time.Microsecond), start.Add(time.Microsecond), nil},
		"at the end of the time":    {deposit.Pending, start, start.Add(day), deposit.ErrNotSecurable},
		"at the end of the stay":    {deposit.Pending, start.Add(day), start, deposit.ErrNotSecurable},
		"of a secured deposit":      {deposit.Active, start.Add(day), start.Add(day), deposit.ErrNotSecurable},
		"of a cancelled deposit":    {deposit.Cancelled, start.Add(day), start.Add(day), deposit.ErrNotSecurable},
		"of a deposit that closed":  {deposit.Closed, start.Add(day), start.Add(day), deposit.ErrNotSecurable},
		"of a captured deposit":     {deposit.Captured, start.Add(day), start.Add(day), deposit.ErrNotSecurable},
		"long after everything was": {deposit.Pending, start.Add(-day), start.Add(-day), deposit.ErrNotSecurable},
	} {
		t.Run(name, func(t *testing.T) {
			d := &deposit.Deposit{Status: c.status, CheckoutExpiresAt: c.expires, Draft: deposit.Draft{ContractEndAt: c.end}}
			before := *d
			require.ErrorIs(t, d.RecordCheckoutStep(start), c.want)
			if c.want != nil {
				require.Equal(t, before, *d, "a refused step changes nothing")
				return
			}
			require.Equal(t, []time.Time{start, start}, []time.Time{d.CheckoutStartedAt, d.UpdatedAt})
			require.Equal(t, c.status, d.Status, "a step is no transition")
		})
	}
}

func TestMayBePaying_OfABegunCheckoutAlone(t *testing.T) {
	for _, status := range deposit.Statuses {
		begun, untouched := deposit.Deposit{Status: status, CheckoutStartedAt: start}, deposit.Deposit{Status: status}
		require.Equal(t, status.InCheckout(), begun.MayBePaying(), status)
		require.False(t, untouched.MayBePaying(), status)
	}
}

func TestIdle_AfterTheTimeWithoutAStep(t *testing.T) {
	timers := deposit.DefaultTimerDurations()
	for name, c := range map[string]struct {
		status  deposit.Status
		started time.Time
		want    bool
	}{
		"never begun":                {deposit.Pending, time.Time{}, false},
		"a microsecond too early":    {deposit.Pending, start.Add(-30*time.Minute + time.Microsecond), false},
		"after half an hour":         {deposit.Pending, start.Add(-30 * time.Minute), true},
		"after a day":                {deposit.Pending, start.Add(-day), true},
		"incomplete already":         {deposit.Incomplete, start.Add(-day), false},
		"after a refused payment":    {deposit.PaymentIssue, start.Add(-day), false},
		"secured meanwhile":          {deposit.Active, start.Add(-day), false},
		"cancelled meanwhile":        {deposit.Cancelled, start.Add(-day), false},
		"of another service's clock": {deposit.Pending, start.Add(time.Second), false},
	} {
		d := deposit.Deposit{Status: c.status, CheckoutStartedAt: c.started}
		require.Equal(t, c.want, d.CheckoutIdle(timers, start), name)
	}
}

func TestCoverElapsed_OfAnActiveDepositAtItsEnd(t *testing.T) {
	for _, status := range deposit.Statuses {
		d := deposit.Deposit{Status: status, ExpiresAt: start}
		require.False(t, d.CoverElapsed(start.Add(-time.Microsecond)), status)
		require.Equal(t, status == deposit.Active, d.CoverElapsed(start), status)
	}
}

func TestNewCollection_IsDueByTheSchedule(t *testing.T) {
	d := sample()
	d.CapturedAmount = 12_000
	for name, c := range map[string]struct {
		schedule deposit.CollectionSchedule
		due      time.Time
	}{
		"at once":          {deposit.DefaultCollectionSchedule(), start},
		"after a day":      {deposit.CollectionSchedule{day, 2 * day}, start.Add(day)},
		"without schedule": {nil, start},
	} {
		t.Run(name, func(t *testing.T) {
			p := deposit.NewCollectionPayment([16]byte{9}, d, c.schedule, start)
			require.Equal(t, deposit.Payment{
				ID: [16]byte{9}, DepositID: d.ID, Kind: deposit.PaymentKindCollection, Amount: 12_000,
				Status:    deposit.PaymentProcessing,
				CreatedAt: start, CheckAt: c.due,
			}, p)
			require.Equal(t, c.due, deposit.NewDebt(p, c.schedule).NextAttemptAt, "the debt begins with the payment")
		})
	}
}
