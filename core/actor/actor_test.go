package actor_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/actor"
	"partnerdeposits/core/id"
)

func TestActor_HasATextThatCanBeReadBack(t *testing.T) {
	t.Parallel()
	prt, opr := id.Partner.Of(id.ID{1}), id.Operator.Of(id.ID{2})
	for text, a := range map[string]actor.Actor{
		"partner:" + prt:  actor.Partner(id.ID{1}, id.ID{}),
		"operator:" + opr: actor.Operator(id.ID{2}),
		"tenant":          actor.Tenant,
		"admin":           actor.Staff,
		"scheduler":       actor.Clock,
		"provider":        actor.Provider,
		"":                {},
	} {
		require.Equal(t, text, a.String())
		require.Equal(t, a, actor.Parse(text))
		if a != actor.Clock {
			require.Equal(t, []string{text}, a.StoredTexts())
		}
	}
}

func TestPartner_TheTextLeavesTheKeyOut(t *testing.T) {
	t.Parallel()
	withKey := actor.Partner(id.ID{1}, id.ID{3})
	require.Equal(t, actor.Partner(id.ID{1}, id.ID{}).String(), withKey.String())
	require.Equal(t, id.ID{3}, withKey.Key)
}

func TestClock_HasTheTextOfEarlierVersionsToo(t *testing.T) {
	t.Parallel()
	require.Equal(t, actor.Clock, actor.Parse("dispatcher"))
	require.Equal(t, []string{"scheduler", "dispatcher"}, actor.Clock.StoredTexts())
}

func TestParse_KeepsATextThatIsNotKnown(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"system", "robot:7", "robot:7:8", "partner", "prt_1"} {
		require.Equal(t, text, actor.Parse(text).String())
	}
}
