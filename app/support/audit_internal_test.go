package support

import (
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/actor"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
)

func TestAuditFilter_ByRequestSubjectOrActor(t *testing.T) {
	t.Parallel()
	request, partner, operator := id.Request.Of(id.ID{1}), id.Partner.Of(id.ID{2}), id.Operator.Of(id.ID{3})
	for name, want := range map[string]ports.AuditFilter{
		request:            {RequestID: request},
		partner:            {Subject: partner, Actors: actors(partner, "partner:"+partner)},
		operator:           {Subject: operator, Actors: actors(operator, "operator:"+operator)},
		"partner:prt_1":    {Subject: "partner:prt_1", Actors: actors("partner:prt_1")},
		"admin":            {Subject: "admin", Actors: actors("admin")},
		"scheduler":        {Subject: "scheduler", Actors: []actor.Actor{actor.Clock}},
		"dispatcher":       {Subject: "dispatcher", Actors: []actor.Actor{actor.Clock}},
		"req_no_id_at_all": {Subject: "req_no_id_at_all", Actors: actors("req_no_id_at_all")},
	} {
		require.Equal(t, want, auditFilter(name), name)
	}
}

func TestNames_ThatAreNoIDOfTheirKind_AskNothing(t *testing.T) {
	t.Parallel()
	s := New(Deps{})
	for _, name := range []string{"", "nonsense", id.Deposit.Of(id.ID{1})} {
		_, err := s.FindWebhook(t.Context(), name)
		require.ErrorIs(t, err, webhook.ErrNotFound, name)
		_, err = s.FindDelivery(t.Context(), name)
		require.ErrorIs(t, err, webhook.ErrDeliveryNotFound, name)
		_, err = s.FindEvent(t.Context(), name)
		require.ErrorIs(t, err, webhook.ErrEventNotFound, name)
	}
	account, err := s.FindAccountID(t.Context(), id.Account.Of(id.ID{1}), "")
	require.NoError(t, err)
	require.Equal(t, id.ID{1}, account, "the id of an account is its own answer")
}

func actors(texts ...string) (all []actor.Actor) {
	for _, text := range texts {
		all = append(all, actor.Parse(text))
	}
	return all
}
