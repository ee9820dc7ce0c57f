package schedules

import (
	"context"
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/platform/mails"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/tenant"
	"partnerdeposits/ports"
)

func TestJob_EveryRoundDecidesTheWaitForTheNext(t *testing.T) {
	t.Parallel()
	often := Job{Every: 500 * time.Millisecond, Rest: 2 * time.Second}
	hourly := Job{Every: time.Hour, Soon: true}
	plain := Job{Every: 10 * time.Second}
	for name, c := range map[string]struct {
		job          Job
		more, failed bool
		idle         time.Duration
		wait, idles  time.Duration
	}{
		"work left": {plain, true, false, time.Minute, 0, 0},
		"done":      {plain, false, false, 0, 10 * time.Second, 10 * time.Second},
		"failed":    {plain, false, true, 0, 10 * time.Second, 10 * time.Second},
		"never rests": {
			plain, false, false, time.Hour, 10 * time.Second, time.Hour + 10*time.Second,
		},
		"failed, with a long interval":  {hourly, false, true, 0, time.Minute, 0},
		"done, with a long interval":    {hourly, false, false, 0, time.Hour, time.Hour},
		"failed, with a minute at most": {Job{Every: time.Second, Soon: true}, false, true, 0, time.Second, 0},
		"idle for a while": {
			often, false, false, 4500 * time.Millisecond, 500 * time.Millisecond, 5 * time.Second,
		},
		"idle for long enough to rest":    {often, false, false, 5 * time.Second, 2 * time.Second, 5 * time.Second},
		"work after a rest":               {often, true, false, 5 * time.Second, 0, 0},
		"a failure does not end the rest": {often, false, true, 5 * time.Second, 2 * time.Second, 5 * time.Second},
	} {
		wait, idles := c.job.next(c.more, c.failed, c.idle)
		require.Equal(t, []time.Duration{c.wait, c.idles}, []time.Duration{wait, idles}, name)
	}
	for _, c := range []struct {
		job  Job
		want time.Duration
	}{{plain, 10 * time.Second}, {hourly, 2 * time.Second}, {Job{Every: time.Second, Soon: true}, time.Second}} {
		require.Equal(t, c.want, c.job.first())
	}
}

func TestJitter_SpreadsByAFifth(t *testing.T) {
	t.Parallel()
	require.Zero(t, jitter(0))
	for range 1000 {
		require.InDelta(t, 10, jitter(10*time.Second).Seconds(), 2)
	}
}

func TestCoverRound_FromSixInTheMorning_InUTC(t *testing.T) {
	t.Parallel()
	paris := time.FixedZone("", 2*60*60)
	today := time.Date(2026, 8, 1, 0, 0, 0, 0, time.UTC)
	for _, early := range []time.Time{today, today.Add(6*time.Hour - 1), today.Add(6*time.Hour - 1).In(paris)} {
		_, tells := coverRound(early, true)
		require.False(t, tells, early)
	}
	last := today.Add(24*time.Hour - 1)
	for _, at := range []time.Time{today.Add(6 * time.Hour), last, last.In(paris)} {
		round, tells := coverRound(at, true)
		require.True(t, tells, at)
		before := at.UTC().Add(7 * 24 * time.Hour)
		require.Equal(t, ports.CoverRound{Now: at.UTC(), Before: before, Today: today, Anyone: true}, round)
	}
	round, _ := coverRound(today.Add(9*time.Hour), false)
	require.False(t, round.Anyone)
}

func TestDecideSecured_WhoIsTold(t *testing.T) {
	t.Parallel()
	const grace, sealed = "grace@example.com", "sealed@example.com"
	for name, c := range map[string]struct {
		words, address, sealed string
		verified, anyone       bool
		tenant                 string
		operator               bool
	}{
		"both":                         {"I agree", grace, "", true, false, grace, true},
		"an address without a check":   {"I agree", grace, "", false, false, grace, false},
		"a service without checks":     {"I agree", grace, "", false, true, grace, true},
		"a tenant erased since":        {"I agree", "", sealed, true, false, sealed, true},
		"a tenant without any address": {"I agree", "", "", true, false, "", true},
		"the present address first":    {"I agree", grace, sealed, true, false, grace, true},
		"a simulated payment":          {"", grace, sealed, true, false, "", true},
		"nobody":                       {"", grace, "", false, false, "", false},
	} {
		about := ports.SecuredSubject{Words: c.words, Verified: c.verified, Tenant: tenant.Contact{Email: c.address}}
		tenantMail, tellsOperator := decideSecured(about, c.sealed, c.anyone)
		require.Equal(t, []any{c.tenant, c.operator}, []any{tenantMail, tellsOperator}, name)
	}
}

func TestClaimed_TheWordsOfTheCapture_AndTheFirstCharge(t *testing.T) {
	t.Parallel()
	first := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	steps := []deposit.Transition{
		{Trigger: deposit.Secured, Detail: map[string]string{"reason": "no"}},
		{Trigger: deposit.Claim, Detail: map[string]string{"reason": "damage", "description": "Broken table"}},
	}
	m := mails.TenantMoney{Kind: ports.TenantCaptured}
	want := mails.TenantMoney{Kind: ports.TenantCaptured, Reason: "damage", Words: "Broken table", ChargedAt: first}
	require.Equal(t, want, claimed(m, steps, deposit.Debt{NextAttemptAt: first}))
	require.Equal(t, m, claimed(m, nil, deposit.Debt{Attempt: 1, NextAttemptAt: first}), "the card has been charged")
	require.Equal(t, m, claimed(m, nil, deposit.Debt{}), "captured before its debt was noted")
}

func TestRefunded_OfTheFeeOrOfACapturedAmount(t *testing.T) {
	t.Parallel()
	fee := deposit.Payment{ID: id.ID{1}, Kind: deposit.FeePayment}
	collection := deposit.Payment{ID: id.ID{2}, Kind: deposit.Collection}
	refunds := []deposit.Refund{
		{ID: id.ID{3}, PaymentID: fee.ID, Amount: 1_750}, {ID: id.ID{4}, PaymentID: collection.ID, Amount: 20_000},
	}
	m := mails.TenantMoney{Amount: 50_000}
	for refundID, want := range map[id.ID]mails.TenantMoney{
		{3}: {Amount: 1_750, Fee: true}, {4}: {Amount: 20_000}, {5}: m,
	} {
		require.Equal(t, want, refunded(m, refunds, []deposit.Payment{fee, collection}, refundID))
	}
}

func TestEachNotice_OneThatFailsHoldsUpNoOther(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	told := 0
	tell := func(fails int) func(context.Context, int) error {
		told = 0
		return func(_ context.Context, n int) error {
			told++
			if n == fails {
				return broken
			}
			return nil
		}
	}
	full := make([]int, noticeBatch)
	full[0] = 1
	for name, c := range map[string]struct {
		due   []int
		err   error
		fails int
		told  int
		more  bool
		want  error
	}{
		"none":                      {nil, nil, 1, 0, false, nil},
		"some":                      {full[:3], nil, 7, 3, false, nil},
		"a full batch":              {full, nil, 7, noticeBatch, true, nil},
		"a failure":                 {full[:3], nil, 1, 3, false, broken},
		"a failure in a full batch": {full, nil, 1, noticeBatch, false, broken},
		"the batch cannot be read":  {nil, broken, 1, 0, false, broken},
	} {
		more, err := eachNotice(t.Context(), c.due, c.err, tell(c.fails))
		require.ErrorIs(t, err, c.want, name)
		require.Equal(t, []any{c.told, c.more}, []any{told, more}, name)
	}
}

type noUpkeep struct{ ports.PaymentEraser }

func (noUpkeep) RunDaily(context.Context) (run ports.ReconciliationRun, err error) { return run, err }

func TestPaymentUpkeep_AsksOnlyAProviderThatHasBooksOrCustomers(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		upkeep PaymentUpkeep
		want   []string
	}{
		{PaymentUpkeep{}, []string{"payment notices"}},
		{PaymentUpkeep{Books: noUpkeep{}}, []string{"payment notices", "reconciliation"}},
		{PaymentUpkeep{Eraser: noUpkeep{}}, []string{"payment notices", "payment erasures"}},
		{
			PaymentUpkeep{Books: noUpkeep{}, Eraser: noUpkeep{}},
			[]string{"payment notices", "reconciliation", "payment erasures"},
		},
	} {
		jobs := c.upkeep.Jobs(7 * time.Second)
		require.Equal(t, c.want, Names(jobs))
		require.Equal(t, 7*time.Second, jobs[0].Every)
	}
}
