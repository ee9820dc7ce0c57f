package desk

import (
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/actor"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
)

var noon = time.Date(2026, 8, 1, 12, 0, 0, 0, time.UTC)

func TestEntries_OfEveryKind_OldestFirst(t *testing.T) {
	t.Parallel()
	at := func(minutes int) time.Time { return noon.Add(time.Duration(minutes) * time.Minute) }
	d := &deposit.Deposit{CreatedAt: noon, PartnerName: "Acme", ByPartnerAPI: true}
	reason, files := map[string]string{"reason": "damage"}, map[string]string{"files": "2"}
	got := entries(d,
		[]deposit.Transition{
			{At: at(2), Trigger: deposit.Secured, Actor: actor.Tenant},
			{At: at(5), Trigger: deposit.CaptureRequested, Actor: actor.Partner(id.ID{1}, id.ID{}), Detail: reason},
		},
		[]deposit.CollectionTransition{
			{
				At: at(6), Trigger: deposit.CardRefused, Actor: actor.Clock,
				Detail: map[string]string{"failure": "lost_card", "attempt": "1"},
			},
		},
		[]ports.AuditEntry{
			{At: at(4), Action: "deposit.add_files", Actor: actor.Operator(id.ID{1}), Detail: files},
			{At: at(7), Action: "deposit.remind", Actor: actor.Operator(id.ID{1}), Detail: map[string]string{"mails": "1"}},
			{At: at(3), Action: "deposit.cancel", Actor: actor.Operator(id.ID{1})},
			{
				At: at(1), Action: "deposit.send_link", Actor: actor.Partner(id.ID{1}, id.ID{}),
				Detail: map[string]string{"to": "grace@example.com"},
			},
		})
	require.Equal(t, []Entry{
		{At: noon, Happened: Created, Author: ByPartner, Name: "Acme"},
		{At: at(1), Happened: LinkSent, Author: ByPartner, Name: "Acme"},
		{At: at(2), Happened: Moved, Trigger: deposit.Secured, Author: ByTenant},
		{At: at(4), Happened: Filed, Author: ByOperator, Detail: files},
		{At: at(5), Happened: Moved, Trigger: deposit.CaptureRequested, Author: ByPartner, Name: "Acme", Detail: reason},
		{
			At: at(6), Happened: Collects, CollectionTrigger: deposit.CardRefused, Author: ByService,
			Detail: map[string]string{"failure": "lost_card"},
		},
		{At: at(7), Happened: Reminded, Author: ByOperator},
	}, got)
	made := entries(&deposit.Deposit{CreatedAt: noon, PartnerName: "Acme"}, nil, nil, nil)
	require.Equal(t, []Entry{{At: noon, Happened: Created, Author: ByOperator}}, made, "on the operator's pages")
}

func TestEntry_EveryActorIsAnAuthor(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]Entry{
		"partner:prt_1":  {Author: ByPartner, Name: "Acme"},
		"operator:opr_1": {Author: ByOperator},
		"tenant":         {Author: ByTenant},
		"scheduler":      {Author: ByClock},
		"system":         {Author: ByService},
		"dispatcher":     {Author: ByClock},
		"admin":          {Author: ByService},
		"provider":       {Author: ByService},
		"":               {Author: ByService},
	} {
		require.Equal(t, want, entry(&deposit.Deposit{PartnerName: "Acme"}, Entry{}, actor.Parse(text)), text)
	}
}
