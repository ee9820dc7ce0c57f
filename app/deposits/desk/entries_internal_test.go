package desk

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/actor"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/evidence"
	"partnerdeposits/core/id"
	"partnerdeposits/core/zone"
	paymentports "partnerdeposits/ports/payments"
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
			{At: at(2), Trigger: deposit.TriggerSecured, Actor: actor.Tenant},
			{At: at(5), Trigger: deposit.TriggerCaptureRequested, Actor: actor.Partner(id.ID{1}, id.ID{}), Detail: reason},
		},
		[]deposit.CollectionTransition{
			{
				At: at(6), Trigger: deposit.CollectionTriggerRefused, Actor: actor.Clock,
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
	require.Equal(t, []HistoryEntry{
		{At: noon, Happened: EntryDepositCreated, Author: AuthorPartner, Name: "Acme"},
		{At: at(1), Happened: EntryLinkSent, Author: AuthorPartner, Name: "Acme"},
		{At: at(2), Happened: EntryTransition, Trigger: deposit.TriggerSecured, Author: AuthorTenant},
		{At: at(4), Happened: EntryFilesAdded, Author: AuthorOperator, Detail: files},
		{At: at(5), Happened: EntryTransition, Trigger: deposit.TriggerCaptureRequested, Author: AuthorPartner,
			Name: "Acme", Detail: reason},
		{
			At: at(6), Happened: EntryCollectionChanged, CollectionTrigger: deposit.CollectionTriggerRefused,
			Author: AuthorService,
			Detail: map[string]string{"failure": "lost_card"},
		},
		{At: at(7), Happened: EntryTenantReminded, Author: AuthorOperator},
	}, got)
	made := entries(&deposit.Deposit{CreatedAt: noon, PartnerName: "Acme"}, nil, nil, nil)
	require.Equal(t, []HistoryEntry{{At: noon, Happened: EntryDepositCreated, Author: AuthorOperator}}, made,
		"on the operator's pages")
}

func TestEntry_EveryActorIsAnAuthor(t *testing.T) {
	t.Parallel()
	for text, want := range map[string]HistoryEntry{
		"partner:prt_1":  {Author: AuthorPartner, Name: "Acme"},
		"operator:opr_1": {Author: AuthorOperator},
		"tenant":         {Author: AuthorTenant},
		"scheduler":      {Author: AuthorClock},
		"system":         {Author: AuthorService},
		"dispatcher":     {Author: AuthorClock},
		"admin":          {Author: AuthorService},
		"provider":       {Author: AuthorService},
		"":               {Author: AuthorService},
	} {
		require.Equal(t, want, entry(&deposit.Deposit{PartnerName: "Acme"}, HistoryEntry{}, actor.Parse(text)), text)
	}
}

// Whatever time a view gets, now or later, has to be shown in the zone of the account.
func TestView_In_EveryTimeIsInTheZone(t *testing.T) {
	t.Parallel()
	v := DepositView{Deposit: &deposit.Deposit{}, Debt: &deposit.Debt{}, Refunds: []deposit.Refund{{}},
		Disputes: []paymentports.StoredDispute{{}}, Files: []evidence.File{{}}, History: []HistoryEntry{{}}}
	times := timesIn(reflect.ValueOf(&v))
	require.Greater(t, len(times), 20)
	for _, at := range times {
		at.Set(reflect.ValueOf(noon))
	}
	there := v.InTimeZone(zone.ByName("Asia/Kathmandu"))
	for _, at := range timesIn(reflect.ValueOf(&there)) {
		require.Equal(t, "2026-08-01T17:45:00+05:45", at.Interface().(time.Time).Format(time.RFC3339))
	}
	for _, at := range times {
		require.Equal(t, noon, at.Interface(), "the view that was read stays")
	}
}

// timesIn finds the times below v.
func timesIn(v reflect.Value) (all []reflect.Value) {
	switch {
	case v.Type() == reflect.TypeFor[time.Time]():
		return []reflect.Value{v}
	case v.Kind() == reflect.Pointer && !v.IsNil():
		return timesIn(v.Elem())
	case v.Kind() == reflect.Slice:
		for i := range v.Len() {
			all = append(all, timesIn(v.Index(i))...)
		}
	case v.Kind() == reflect.Struct:
		for field, value := range v.Fields() {
			if field.IsExported() {
				all = append(all, timesIn(value)...)
			}
		}
	}
	return all
}
