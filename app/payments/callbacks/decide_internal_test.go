package callbacks

import (
	"context"
	"slices"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	paymentports "partnerdeposits/ports/payments"
	ports "partnerdeposits/ports/platform"
)

func TestAsks_WhereACallbackNamesOurPaymentOrADispute(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		callback paymentports.Callback
		want     bool
	}{
		"a payment":                     {paymentports.Callback{PaymentID: id.ID{1}}, true},
		"a dispute of a payment":        {paymentports.Callback{PaymentID: id.ID{1}, Dispute: true}, true},
		"a dispute of a foreign record": {paymentports.Callback{ProviderRef: "ch_1", Dispute: true}, true},
		"a dispute of nothing":          {paymentports.Callback{Dispute: true}, false},
		"a foreign record":              {paymentports.Callback{ProviderRef: "ch_1"}, false},
		"a callback of an unknown type": {paymentports.Callback{Ref: "evt_1"}, false},
	} {
		require.Equal(t, c.want, asks(c.callback), name)
	}
}

func TestDecideDispute_EveryChange_AndWhoIsTold(t *testing.T) {
	t.Parallel()
	due := time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)
	dispute := paymentports.Dispute{Ref: "dp_1", Amount: 1_750, Status: "needs_response", EvidenceDueBy: due}
	was := func(change func(*paymentports.StoredDispute)) *paymentports.StoredDispute {
		before := paymentports.StoredDispute{Dispute: dispute}
		change(&before)
		return &before
	}
	type decision struct {
		was            string
		changed, tells bool
	}
	for name, c := range map[string]struct {
		before  *paymentports.StoredDispute
		mayTell bool
		want    decision
	}{
		"new":            {nil, true, decision{"", true, true}},
		"new, to nobody": {nil, false, decision{"", true, false}},
		"as before":      {was(func(*paymentports.StoredDispute) {}), true, decision{"needs_response", false, false}},
		"another status": {
			was(func(b *paymentports.StoredDispute) { b.Status = "under_review" }), true, decision{"under_review", true, true},
		},
		"another status, to nobody": {
			was(func(b *paymentports.StoredDispute) { b.Status = "under_review" }), false, decision{"under_review", true, false},
		},
		"another amount": {
			was(func(b *paymentports.StoredDispute) { b.Amount = 1 }), true, decision{"needs_response", true, false},
		},
		"another time": {
			was(func(b *paymentports.StoredDispute) { b.EvidenceDueBy = due.Add(1) }), true,
			decision{"needs_response", true, false},
		},
		"the same time in Paris": {
			was(func(b *paymentports.StoredDispute) { b.EvidenceDueBy = due.In(time.FixedZone("", 7200)) }), true,
			decision{"needs_response", false, false},
		},
	} {
		before, changed, tells := decideDispute(c.before, dispute, c.mayTell)
		require.Equal(t, c.want, decision{before, changed, tells}, name)
	}
}

func TestAskWaits_GrowByAMinuteWithEachFailure_UpToHalfAnHourAndTheLease(t *testing.T) {
	t.Parallel()
	waits := askWaits()
	for failed, minutes := range map[int]time.Duration{0: 2, 1: 3, 29: 31, 30: 32} {
		require.Equal(t, minutes*time.Minute, waits[failed], failed)
	}
	require.Len(t, waits, 31, "the last wait stands for all further tries")
	require.Greater(t, waits[0], askTimeout, "no other process asks meanwhile")
}

type slowBooks struct {
	paymentports.ProviderBookReader
}

func (slowBooks) Disputes(context.Context, id.ID) ([]paymentports.Dispute, error) {
	<-time.After(askTimeout - time.Second)
	return []paymentports.Dispute{{Ref: "dp_1"}}, nil
}

type due struct {
	paymentports.ProviderQueryStore
	questions []paymentports.ProviderQuery
}

func (d due) DueQueries(
	context.Context, time.Time, []time.Duration, int,
) ([]paymentports.ProviderQuery, error) {
	return d.questions, nil
}

func (due) DeleteAnswered(context.Context, paymentports.ProviderQuery) error { return nil }

// kept notes how old the times are with which disputes are kept; none is of a payment of ours.
type kept struct {
	paymentports.DisputeStore
	ages []time.Duration
}

func (k *kept) Store(_ context.Context, _ paymentports.Dispute, now time.Time) (
	*paymentports.StoredDispute, paymentports.DisputeMailData, bool, error,
) {
	k.ages = append(k.ages, time.Since(now))
	return nil, paymentports.DisputeMailData{}, false, nil
}

type noTx struct{ ports.UnitOfWork }

func (noTx) WithinTx(ctx context.Context, do func(context.Context) error) error { return do(ctx) }

type wall struct{}

func (wall) Now() time.Time { return time.Now() }

// An entry of the audit log has this time, and commits a minute later at most (operations.md, "Admin CLI").
func TestAsk_BooksThatAreSlow_EachDisputeHasTheTimeOfItsAnswer(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		question, k := paymentports.ProviderQuery{PaymentID: id.ID{1}, Dispute: true}, &kept{}
		answered, err := New(Deps{Clock: wall{}, UnitOfWork: noTx{}, Books: slowBooks{}, Disputes: k,
			Questions: due{questions: slices.Repeat([]paymentports.ProviderQuery{question}, 5)}}).RunDueQueries(t.Context())
		require.NoError(t, err)
		require.Equal(t, 5, answered)
		require.Equal(t, make([]time.Duration, 5), k.ages)
	})
}
