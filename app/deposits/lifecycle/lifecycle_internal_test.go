package lifecycle

import (
	"errors"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/actor"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	ports "partnerdeposits/ports/platform"
)

var now = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)

func TestWrites_OfATransition_AreRowHistoryAndEvent(t *testing.T) {
	t.Parallel()
	by := TransitionAuthor{Actor: actor.Tenant, Detail: map[string]string{"reason": "x"}}
	for name, c := range map[string]struct {
		partnerID id.ID
		event     bool
	}{"of a partner": {id.ID{3}, true}, "of the desk": {id.ID{}, false}} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			d := deposit.New(id.ID{1}, "D-7K3M-9Q2X", deposit.Origin{PartnerID: c.partnerID},
				deposit.Draft{Amount: 50_000, ContractEndAt: now}, nil, now)
			step, err := d.ApplyTrigger(deposit.TriggerSecured, deposit.DefaultTimerDurations(), now)
			require.NoError(t, err)
			writes := BuildTransitionWrites(d, step, by, id.ID{8})
			require.Same(t, d, writes.Transition.Deposit)
			require.Equal(t, []any{actor.Tenant, by.Detail, deposit.Active},
				[]any{writes.Transition.Transition.Actor, writes.Transition.Transition.Detail, writes.Transition.Transition.To})
			if !c.event {
				require.Nil(t, writes.Event)
				require.True(t, writes.Transition.Transition.EventID.IsZero())
				return
			}
			require.Equal(t, id.ID{8}, writes.Transition.Transition.EventID)
			require.Equal(t, &ports.Event{
				ID: id.ID{8}, PartnerID: id.ID{3}, Name: webhook.EventDepositActivated, DepositID: id.ID{1},
				Data: d.EventData(writes.Transition.Transition), CreatedAt: now,
			}, writes.Event)
		})
	}
}

func TestHearsOf_ADepositOfTheDesk_WhileTheLinkLasts(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		link  connect.Link
		err   error
		hears bool
		want  error
	}{
		"linked":       {connect.Link{LinkedAt: now}, nil, true, nil},
		"revoked":      {connect.Link{LinkedAt: now, RevokedAt: now}, nil, false, nil},
		"never linked": {connect.Link{}, connect.ErrAccountNotLinked, false, nil},
		"not known":    {connect.Link{}, broken, false, broken},
	} {
		hears, err := hearsOf(c.link, c.err)
		require.ErrorIs(t, err, c.want, name)
		require.Equal(t, c.hears, hears, name)
	}
}

func TestCheckoutOver_IsARefusalOfTheStatus(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]bool{
		nil: false, fault.ErrUnavailable: false, deposit.ErrNotCapturable: false, errors.New("broken"): false,
		deposit.ErrNotCancellable: true,
		deposit.ErrNotSecurable:   true, deposit.ErrNotSecurable.WithMessage("It is active."): true,
	} {
		require.Equal(t, want, IsCheckoutOverError(err), "%v", err)
	}
}
