package dashboard_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	acts "partnerdeposits/app/deposits"
	"partnerdeposits/core/zone"
	"partnerdeposits/lab/connecttest"
)

// setZone gives the account a time zone, as its operator does.
func (d *desk) setZone(name string) {
	d.t.Helper()
	sent := set(d.t, d.b, "change_zone", map[string]string{"timezone": name})
	require.Equal(d.t, "/dashboard/settings?done=change_zone", sent.Location)
}

func TestSettings_TimeZone_IsChosenFromTheList(t *testing.T) {
	d := newDesk(t)
	chosen := func() string {
		for _, option := range d.b.Get("/dashboard/settings").ElementsByTag("option") {
			if value := attribute(option, "value"); zone.IsKnownName(value) && attribute(option, "selected") == "" {
				for _, a := range option.Attr {
					if a.Key == "selected" {
						return value
					}
				}
			}
		}
		return ""
	}
	require.Equal(t, "UTC", chosen(), "nothing changes unasked")
	bad := set(t, d.b, "change_zone", map[string]string{"timezone": "Mars/Olympus"})
	require.Equal(t, http.StatusUnprocessableEntity, bad.Status)
	require.Equal(t, "invalid_field", bad.ErrorCode())
	require.Contains(t, bad.Body, `id="change_zone-timezone-error"`)
	require.Contains(t, bad.Body, "Choose a time zone from the list.")
	require.Equal(t, 1, d.Count("accounts", "id = $1 AND timezone = 'UTC'", d.account))
	d.setZone("America/Argentina/Buenos_Aires")
	require.Equal(t, "America/Argentina/Buenos_Aires", chosen())
	require.Contains(t, d.b.Get("/dashboard/settings?done=change_zone").ElementText("main"), "The time zone is saved.")
	require.Equal(t, 1, d.Count("audit_log",
		`action = 'account.change_zone' AND detail = '{"from": "UTC", "to": "America/Argentina/Buenos_Aires"}'`))
}

// The days of a stay are those of the account's zone wherever somebody writes or reads them.
func TestZone_DaysOfAStay_AreThoseOfTheAccount(t *testing.T) {
	t.Parallel()
	for name, at := range map[string]struct{ start, end string }{
		"Pacific/Kiritimati": {"2031-06-30 10:00:00+00", "2031-07-08 09:59:59+00"},
		"America/New_York":   {"2031-07-01 04:00:00+00", "2031-07-09 03:59:59+00"},
	} {
		t.Run(name, func(t *testing.T) {
			d := newDesk(t)
			d.setZone(name)
			page := d.b.Get(d.b.Submit("/dashboard/deposits/new", newFields(nil)).Location)
			require.Equal(t, http.StatusOK, page.Status)
			require.Equal(t, 1,
				d.Count("deposits", "contract_start_at = $1 AND contract_end_at = $2 AND amount_cents = 30000",
					at.start, at.end))
			reads := "1\u00a0Jul\u00a02031 – 8\u00a0Jul\u00a02031"
			require.Contains(t, page.ElementText("main"), reads)
			made := references(page)[0]

			for query, found := range map[string]bool{
				"from=2031-07-08&to=2031-07-08": true, "from=2031-07-01&to=2031-07-01": true,
				"to=2031-06-30": false, "from=2031-07-09": false,
			} {
				list := d.b.Get("/dashboard/deposits?" + query)
				require.Equal(t, found, len(references(list)) > 0 && references(list)[0] == made, query)
				if found {
					require.Contains(t, list.ElementText("main"), "1 – 8\u00a0Jul\u00a02031")
					require.Contains(t, d.b.Get("/dashboard/deposits.csv?"+query).Body, ",2031-07-01,2031-07-08,")
				}
			}

			d.path = pathOf(t, d.Server, made)
			d.confirm(d.ask("send_link", map[string]string{"email": "grace@example.com"}), "send_link")
			mails := d.ListMails("grace@example.com")
			require.Len(t, mails, 2)
			for _, m := range mails {
				require.Contains(t, m.Body, "1\u00a0July\u00a02031 to 8\u00a0July\u00a02031",
					"the tenant reads them too")
			}
			require.Contains(t, d.b.Send(page, form(t, page, "cancel"), nil).ElementText("main"), reads)
		})
	}
}

// ends_by is a day of the zone; the link of Today names a moment, which is the same in every zone.
func TestZone_EndsBy_IsADayOfTheAccount(t *testing.T) {
	d := newDesk(t)
	d.setZone("Pacific/Kiritimati")
	today := d.Clock.Now().In(zone.ByName("Pacific/Kiritimati"))
	midnight := zone.NextDay(today) // there; in UTC the day goes on until 14:00 there
	secured(t, d.Server, d.reference, midnight.Add(30*time.Minute).Sub(today))
	for day, found := range map[time.Time]int{today: 0, midnight: 1} {
		require.Len(t, references(d.b.Get("/dashboard/deposits?ends_by="+day.Format(time.DateOnly))), found, day)
	}
	ends := midnight.Format("2\u00a0Jan\u00a02006")
	require.Contains(t, d.b.Get("/dashboard").ElementText("main"), ends)
	require.Contains(t, d.b.Get(d.path).ElementText("main"), "until "+ends+", 00:30\u00a0UTC+14:00")
}

func TestZone_SeveralTellWhenATenantWasRemindedInTheZone(t *testing.T) {
	d := newSeveral(t, 2, connecttest.Options{})
	d.setZone("Europe/Paris")
	d.claimedFrom(d.made[0], "ada@example.com", time.Hour)
	d.claimedFrom(d.made[1], "grace@example.com", 25*time.Hour)
	reminded := d.Clock.Now().Add(-time.Hour).In(zone.ByName("Europe/Paris"))
	page := d.ask(acts.ActRemindTenants, d.made...)
	require.Contains(t, page.ElementText("main"), reminded.Format("2\u00a0Jan\u00a02006, 15:04\u00a0MST"))
	require.NotContains(t, page.ElementText("main"), "UTC")
}

// Partner and settings tell days without a time, which would not show that they forgot the zone.
func TestZone_DaysOfALinkAndOfCodes_AreThoseOfTheAccount(t *testing.T) {
	d := newDesk(t)
	d.b.EnableTOTP(d.Server)
	d.setZone("Asia/Tokyo")
	change(t, d.Server, `UPDATE account_links SET linked_at = '2026-07-01 23:00+00' WHERE account_id = $1`, d.account)
	change(t, d.Server, `UPDATE second_factors SET confirmed_at = '2026-07-03 23:00+00'`)
	require.Contains(t, d.b.Get("/dashboard/partner").ElementText("main"), "2\u00a0Jul\u00a02026")
	require.Contains(t, d.b.Get("/dashboard/settings").ElementText("main"), "4\u00a0Jul\u00a02026")
}

// A page that forgot the zone would name UTC. The money alone is counted in UTC, and says so.
func TestZone_NoPageOfTheDeskIsInUTC(t *testing.T) {
	d := newDesk(t)
	made := append(d.more(4), d.reference)
	d.setZone("Europe/Paris")
	secured(t, d.Server, made[0], time.Hour)
	refusedClaim(t, d.Server, made[1])
	refused(t, d.Server, made[2])
	captured(t, d.Server, made[3], 5_000)
	d.b.Get("/dashboard")
	paths := []string{"/dashboard", "/dashboard/deposits", "/dashboard/deposits/new", "/dashboard/partner",
		"/dashboard/deposits?ends_by=2999-01-01&status=active", pathOf(t, d.Server, made[0]) + "/claim"}
	for _, reference := range made {
		paths = append(paths, pathOf(t, d.Server, reference))
	}
	d.path = pathOf(t, d.Server, made[0])
	pages := map[string]connecttest.Answer{"claim": d.ask("capture", nil), "release": d.ask("release", nil)}
	for _, path := range paths {
		pages[path] = d.b.Get(path)
	}
	for name, page := range pages {
		require.Equal(t, http.StatusOK, page.Status, name)
		require.NotContains(t, page.ElementText("main"), "UTC", name)
	}
	require.Contains(t, pages[d.path].ElementText("main"), "\u00a0CE") // CET or CEST
	settings := d.b.Get("/dashboard/settings").ElementText("main")
	require.Equal(t, 1, strings.Count(settings, "UTC"), "in the list of zones alone")
	require.Contains(t, d.b.Get("/dashboard/money").ElementText("main"), "Months and days are in UTC")
}
