package desk

import (
	"reflect"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/evidence"
	"partnerdeposits/core/zone"
	paymentports "partnerdeposits/ports/payments"
)

// Whatever time a view gets, now or later, has to be shown in the zone of the account.
func TestView_In_EveryTimeIsInTheZone(t *testing.T) {
	t.Parallel()
	v := View{Deposit: &deposit.Deposit{}, Debt: &deposit.Debt{}, Refunds: []deposit.Refund{{}},
		Disputes: []paymentports.KeptDispute{{}}, Files: []evidence.File{{}}, History: []Entry{{}}}
	times := timesIn(reflect.ValueOf(&v))
	require.Greater(t, len(times), 20)
	for _, at := range times {
		at.Set(reflect.ValueOf(noon))
	}
	there := v.In(zone.Of("Asia/Kathmandu"))
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
