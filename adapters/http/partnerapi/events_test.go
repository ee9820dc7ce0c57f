package partnerapi_test

import (
	"encoding/json"
	"fmt"
	"slices"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/deposits"
	"partnerdeposits/app/webhooks/events"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/servicetest"
	ports "partnerdeposits/ports/platform"
	webhookports "partnerdeposits/ports/webhooks"
)

// relayAll files every event of the partner, without deliveries. Tests of the same world may file the event first.
func (c *caller) relayAll() {
	c.t.Helper()
	for c.Count("outbox", "partner_id = $1", c.partner.ID) > 0 {
		_, _, err := c.work.Relay(c.t.Context(), 500, time.Minute,
			func([]ports.Event, []webhookports.Subscription) []webhookports.Delivery { return nil })
		require.NoError(c.t, err)
	}
}

// eventID files the partner's events and gives the newest.
func (c *caller) eventID() string {
	c.t.Helper()
	c.relayAll()
	return text(c.t, c.get("/events").list()[0], "id")
}

// renumber gives the partner's last event another number, and moves the events before it along.
func (c *caller) renumber(n int) {
	c.t.Helper()
	for _, statement := range []string{
		`UPDATE events e SET sequence = e.sequence + $1::bigint - f.last_sequence FROM event_feeds f
			WHERE f.partner_id = e.partner_id AND e.partner_id = $2`,
		`UPDATE event_feeds SET oldest_sequence = oldest_sequence + $1::bigint - last_sequence, last_sequence = $1::bigint
			WHERE partner_id = $2`,
	} {
		_, err := c.Pool.Exec(c.t.Context(), statement, n, c.partner.ID)
		require.NoError(c.t, err)
	}
}

// feed reads the feed, and gives the events, nextAfter and feedId.
func (c *caller) feed(query string) (events []object, next int, feedID string) {
	c.t.Helper()
	r := c.get("/events/feed?" + query)
	body := r.whole()
	n, _ := body["nextAfter"].(float64)
	return r.list(), int(n), text(c.t, body, "feedId")
}

func TestFeed_ReadInParts_HasEveryEventOnce_InTheOrderOfItsNumbers(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	other := c.world.caller(t, "other")
	c.relayAll()
	_, before, _ := c.feed("")
	var want []any
	for _, outcome := range []string{"activate", "abandon", "fail_payment"} {
		d := c.created(account)
		c.simulated(d, outcome)
		want = append(want, d)
	}
	c.relayAll()
	var got []any
	var feedID string
	for after := before; ; after++ {
		var part []object
		var n int
		part, n, feedID = c.feed(fmt.Sprintf("limit=1&after=%d", after))
		if len(part) == 0 {
			require.Equal(t, after, n)
			break
		}
		require.Equal(t, after+1, n)
		require.EqualValues(t, n, part[0]["sequence"])
		data, _ := part[0]["data"].(object)
		got = append(got, data["id"])
		delete(part[0], "sequence")
		require.Equal(t, part[0], c.get("/events/"+text(t, part[0], "id")).ok(200))
		other.get("/events/"+text(t, part[0], "id")).refused(404, "event_not_found")
	}
	require.Equal(t, want, got)
	require.Len(t, c.get("/events?event=deposit.activated").list(), 1)
	require.Len(t, c.get(fmt.Sprintf("/events?depositId=%s", want[1])).list(), 1)
	require.Empty(t, c.get("/events?from=9999-12-31T23:59:59Z").list())
	require.Empty(t, c.get("/events?to=0001-01-01T00:00:00Z").list())
	require.Empty(t, other.get("/events").list())
	_, none, theirs := other.feed("")
	require.Zero(t, none)
	require.NotEqual(t, feedID, theirs)

	last := before + len(want)
	c.get(fmt.Sprintf("/events/feed?after=%d", last+1)).refused(400, "invalid_cursor")
	_, err := c.Pool.Exec(t.Context(), `UPDATE event_feeds SET oldest_sequence = $1 WHERE partner_id = $2`, last,
		c.partner.ID)
	require.NoError(t, err)
	c.get(fmt.Sprintf("/events/feed?after=%d", last-2)).refused(400, "invalid_cursor")
	part, _, _ := c.feed("")
	require.Len(t, part, 1)
	for _, bad := range []string{"after=-1", "after=x", "waitSeconds=26", "waitSeconds=-1", "limit=0"} {
		c.get("/events/feed?"+bad).refused(400, "invalid_field")
	}
	_, err = c.Restore.Finish(t.Context())
	require.NoError(t, err)
	_, _, restored := c.feed("")
	require.NotEqual(t, feedID, restored)
}

// An event tells the version and the captured amount of its change: in the list, in the feed and alone. The last
// version is that of the deposit.
func TestEvents_TellTheVersionAndTheCapturedAmount(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	type told = [2]any
	none := func(versions ...float64) (all []told) {
		for _, version := range versions {
			all = append(all, told{version, nil})
		}
		return all
	}
	simulated := func(outcome string) func(string) { return func(d string) { c.simulated(d, outcome) } }
	act := func(act string, body any) func(string) {
		return func(d string) { c.post("/deposits/"+d+"/"+act, body).ok(200) }
	}
	for name, k := range map[string]struct {
		acts []func(string)
		want []told
	}{
		"captured in part": {[]func(string){simulated("activate"), act("capture", object{"amount": 120.5})},
			append(none(2), told{3.0, 12_050.0})},
		"captured wholly": {[]func(string){simulated("fail_payment"), simulated("activate"), act("capture", nil)},
			append(none(2, 3), told{4.0, 50_000.0})},
		"released":  {[]func(string){simulated("activate"), act("release", nil)}, none(2, 3)},
		"expired":   {[]func(string){simulated("activate"), simulated("expire")}, none(2, 3)},
		"cancelled": {[]func(string){simulated("fail_payment"), act("cancel", nil)}, none(2, 3)},
		"declined":  {[]func(string){simulated("decline")}, none(2)},
	} {
		d := c.created(account)
		c.relayAll()
		_, before, _ := c.feed("")
		for _, act := range k.acts {
			act(d)
		}
		c.relayAll()
		fed, _, _ := c.feed(fmt.Sprintf("after=%d", before))
		listed := c.get("/events?depositId=" + d).list()
		slices.Reverse(listed)
		var got []told
		for i, e := range fed {
			data, _ := e["data"].(object)
			require.Contains(t, data, "capturedAmountCents", name)
			got = append(got, told{data["version"], data["capturedAmountCents"]})
			delete(e, "sequence")
			require.Equal(t, []object{e, e}, []object{listed[i], c.get("/events/" + text(t, e, "id")).ok(200)}, name)
		}
		require.Equal(t, k.want, got, name)
		require.Equal(t, c.get("/deposits/" + d).ok(200)["version"], got[len(got)-1][0], name)
	}
}

// An event that is older than these fields has the bytes with which it was stored, wherever it is read.
func TestEvents_FromBeforeVersions_StayReadable(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	d := c.created(account)
	c.simulated(d, "activate")
	_, err := c.Pool.Exec(t.Context(), `UPDATE outbox SET data = regexp_replace(data, ',"version".*', '}')`)
	require.NoError(t, err)
	event := c.eventID()
	c.post("/deposits/"+d+"/capture", nil).ok(200)
	c.relayAll()
	fed, _, _ := c.feed("")
	for _, e := range []object{c.get("/events/" + event).ok(200), c.get("/events?depositId=" + d).list()[1], fed[0]} {
		require.Equal(t, event, e["id"])
		require.NotContains(t, e["data"], "version")
		require.NotContains(t, e["data"], "capturedAmountCents")
	}
	data, _ := fed[1]["data"].(object)
	require.Equal(t, []any{3.0, 50_000.0}, []any{data["version"], data["capturedAmountCents"]})
}

// The operator's acts on a deposit that no API made are told as those of the partner are.
func TestEvents_OfTheOperatorsDeposit_TellTheVersion(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	d := c.dashboardDeposit(account)
	parsed, _ := id.Deposit.Parse(d)
	owner, operator, err := c.Postgres.Operators.AccountByID(t.Context(), mustAccount(t, account))
	require.NoError(t, err)
	by := deposits.OperatorCaller{Operator: operator, Account: owner}
	form := deposits.ActForm{DepositID: parsed, Version: 1, Key: servicetest.NewID()}
	require.NoError(t, c.Deposits.CancelByOperator(t.Context(), by, form, ""))
	c.eventID()
	data, _ := c.get("/events?depositId=" + d).list()[0]["data"].(object)
	require.NotContains(t, data, "partnerContext")
	require.Equal(t, []any{2.0, nil}, []any{data["version"], data["capturedAmountCents"]})
}

// Changes of many deposits commit together (ADR 0006): each event has the version of its own deposit.
func TestEvents_OfChangesThatCommitTogether_TellTheirOwnVersions(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	var all []string
	var wg sync.WaitGroup
	for i := range 30 {
		d := c.created(account)
		all = append(all, d)
		wg.Go(func() {
			for _, outcome := range [][]string{{"activate"}, {"fail_payment", "activate"}, {"start", "decline"}}[i%3] {
				c.simulated(d, outcome)
			}
			c.post("/deposits/"+d+"/capture", object{"amount": 1 + i}) // refused where the tenant was declined
		})
	}
	wg.Wait()
	for i, d := range all {
		require.Len(t, c.events(t, d), []int{2, 3, 1}[i%3], d)
	}
}

// A feed with a gap is an error of the service, which it never hides.
func TestFeed_AnEventIsMissing_IsRefused(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	for range 3 {
		c.simulated(c.created(account), "activate")
	}
	c.relayAll()
	_, err := c.Pool.Exec(t.Context(), `DELETE FROM events WHERE sequence = 2`)
	require.NoError(t, err)
	c.get("/events/feed").refused(500, "internal_error")
}

func TestFeed_Waits_UntilARing_OrTheDrain(t *testing.T) {
	t.Parallel()
	waiting := events.NewWaitingRequests()
	c, account := newStory(t, func(s *servicetest.Setup) {
		s.Parts = func(p *servicetest.Deps) { p.Waiting = waiting }
	})
	c.relayAll()
	_, last, _ := c.feed("")
	ask := func() <-chan int {
		answered := make(chan int, 1)
		go func() { answered <- len(c.get(fmt.Sprintf("/events/feed?after=%d&waitSeconds=25", last)).list()) }()
		require.Eventually(t, func() bool { return waiting.Size() == 1 }, servicetest.MaxWait, time.Millisecond)
		return answered
	}
	answered := ask()
	waiting.WakePartners([]id.ID{c.partner.ID}) // nothing is there
	c.simulated(c.created(account), "activate")
	c.relayAll()
	waiting.WakePartners([]id.ID{c.partner.ID})
	require.Equal(t, 1, <-answered)
	last++
	answered = ask()
	waiting.Drain()
	require.Zero(t, <-answered)
	require.Empty(t, c.get(fmt.Sprintf("/events/feed?after=%d&waitSeconds=25", last)).list(), "no further request waits")
}

// whole is the whole body of a response.
func (r reply) whole() (body object) {
	require.NoError(r.t, json.Unmarshal(r.body, &body))
	return body
}
