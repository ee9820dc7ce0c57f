// Package depositfields tests that every place where people see deposits shows each field, or that the list below
// says why not (docs/guides/adding.md).
package depositfields

import (
	"fmt"
	"reflect"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
)

// DisplayPlace is a place where people see a deposit, such as the CSV export.
type DisplayPlace string

const (
	DisplayedOnDashboardPage DisplayPlace = "the page of a deposit (adapters/http/dashboard/detail.go)"
	DisplayedInCSVExport     DisplayPlace = "the CSV export (adapters/http/dashboard/export.go)"
	DisplayedByAdminShow     DisplayPlace = "admin deposit show (process/admin/show.go)"
)

var everywhere = []DisplayPlace{DisplayedOnDashboardPage, DisplayedInCSVExport, DisplayedByAdminShow}

// hidden lists the deposit fields that a place does not show, with the reasons.
var hidden = []struct {
	field  string
	places []DisplayPlace
	reason string
}{
	{"CheckoutToken", everywhere, "a secret, which opens the checkout"},
	{"ReturnURL", everywhere, "may hold a secret of the partner in its query"},
	{"Metadata", everywhere, "belongs to the partner's program, which reads it by the API"},
	{"URLGeneration", everywhere, "says what the request asked for, and nothing about the deposit"},
	{"Locale", everywhere, "the language of the tenant's pages and mails"},
	{"PartnerLeft", everywhere, "hides the tenant from partners that left; operators and staff are not concerned"},
	{"ByPartnerAPI", everywhere, "the history tells who made the deposit"},
	{"PartnerName", everywhere, "the history names the partner, and admin its slug"},
	{"PartnerID", everywhere, "the history names the partner, and admin its slug"},
	{"Client.ID", everywhere, "ClientID is shown where ids are"},
	{"ID", []DisplayPlace{DisplayedInCSVExport}, "people and spreadsheets use the reference"},
	{"AccountID", []DisplayPlace{DisplayedOnDashboardPage, DisplayedInCSVExport}, "the reader's own account"},
	{"ExternalID", []DisplayPlace{DisplayedOnDashboardPage, DisplayedInCSVExport}, "the partner's own number for the operator"},
	{"ClientID", []DisplayPlace{DisplayedOnDashboardPage, DisplayedInCSVExport}, "the tenant is named"},
	{"StatusReason", []DisplayPlace{DisplayedOnDashboardPage, DisplayedInCSVExport}, "the history of the page tells it in words"},
	{"Version", []DisplayPlace{DisplayedOnDashboardPage, DisplayedInCSVExport}, "guards the forms of the page against changes meanwhile"},
	{"UpdatedAt", []DisplayPlace{DisplayedOnDashboardPage, DisplayedInCSVExport}, "the history of the page has every change"},
	{"CheckoutStartedAt", []DisplayPlace{DisplayedOnDashboardPage, DisplayedInCSVExport}, "serves the clock of checkout"},
	{"CheckoutExpiresAt", []DisplayPlace{DisplayedInCSVExport}, "of use only while the deposit is open, on its page"},
	{"ActivatedAt", []DisplayPlace{DisplayedInCSVExport}, "the page draws it, and its history tells it"},
	{"CancelledAt", []DisplayPlace{DisplayedOnDashboardPage, DisplayedInCSVExport}, "the history of the page tells it"},
	{"ExpiresAt", []DisplayPlace{DisplayedInCSVExport}, "the page tells it with the reach of the cover"},
	{"ClosedAt", []DisplayPlace{DisplayedInCSVExport}, "the status is exported; the page tells the time"},
	{"CapturedAt", []DisplayPlace{DisplayedInCSVExport}, "the status is exported; the page tells the time"},
}

// RequireAllFieldsShown changes each field of a deposit, and fails the test unless the rendered text changes in at
// least one status.
func RequireAllFieldsShown(t testing.TB, place DisplayPlace, render func(*deposit.Deposit) string) {
	t.Helper()
	reasons := map[string]string{}
	for _, h := range hidden {
		exists := at(filled(t, deposit.Active), h.field).IsValid()
		require.True(t, exists, "lab/depositfields names %s, which is no field of a deposit", h.field)
		if slices.Contains(h.places, place) {
			reasons[h.field] = h.reason
		}
	}
	for _, field := range fieldsOf(reflect.TypeFor[deposit.Deposit](), "") {
		shown := slices.ContainsFunc(deposit.Statuses, func(status deposit.Status) bool {
			as, changed := filled(t, status), filled(t, status)
			change(t, at(changed, field))
			return render(as) != render(changed)
		})
		switch reason := reasons[field]; {
		case !shown && reason == "":
			t.Errorf("%s does not show deposit.%s: show it there, or name it with a reason in lab/depositfields", place, field)
		case shown && reason != "":
			t.Errorf("%s shows deposit.%s, which lab/depositfields calls hidden: %s", place, field, reason)
		}
	}
}

// fieldsOf returns the dotted paths of a struct type's fields. A struct inside contributes only its fields.
func fieldsOf(of reflect.Type, prefix string) (paths []string) {
	for i := range of.NumField() {
		f := of.Field(i)
		of := f.Type
		if of.Kind() == reflect.Pointer {
			of = of.Elem()
		}
		switch {
		case f.Anonymous:
			paths = append(paths, fieldsOf(of, prefix)...)
		case of.Kind() == reflect.Struct && of != reflect.TypeFor[time.Time]():
			paths = append(paths, fieldsOf(of, prefix+f.Name+".")...)
		default:
			paths = append(paths, prefix+f.Name)
		}
	}
	return paths
}

func at(d *deposit.Deposit, path string) reflect.Value {
	v := reflect.ValueOf(d).Elem()
	for name := range strings.SplitSeq(path, ".") {
		if v = reflect.Indirect(v).FieldByName(name); !v.IsValid() {
			break
		}
	}
	return v
}

func filled(t testing.TB, status deposit.Status) *deposit.Deposit {
	t.Helper()
	d := &deposit.Deposit{Client: &deposit.ClientDetails{}}
	for _, field := range fieldsOf(reflect.TypeFor[deposit.Deposit](), "") {
		if field != "ByPartnerAPI" && field != "PartnerLeft" {
			change(t, at(d, field))
		}
	}
	d.Status = status
	return d
}

func change(t testing.TB, v reflect.Value) {
	t.Helper()
	switch of := v.Interface().(type) {
	case time.Time:
		if of.IsZero() {
			of = time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
		}
		v.Set(reflect.ValueOf(of.AddDate(0, 0, 1)))
		return
	case deposit.Status:
		next := slices.Index(deposit.Statuses, of) + 1
		v.Set(reflect.ValueOf(deposit.Statuses[next%len(deposit.Statuses)]))
		return
	case map[string]string:
		v.Set(reflect.ValueOf(map[string]string{"key": of["key"] + "x"}))
		return
	}
	switch v.Kind() {
	case reflect.String:
		v.SetString(v.String() + "x")
	case reflect.Int, reflect.Int64:
		v.SetInt(v.Int() + 100)
	case reflect.Bool:
		v.SetBool(!v.Bool())
	case reflect.Array: // Every array among the fields of a deposit is an id.
		v.Index(0).SetUint(v.Index(0).Uint() + 1)
	default:
		require.Fail(t, fmt.Sprintf("lab/depositfields cannot change a field of type %s", v.Type()))
	}
}
