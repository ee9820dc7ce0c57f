package partnerapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"slices"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	ports "partnerdeposits/ports/platform"
)

// linkMails gives the mails that wait, as the dispatcher claims them.
func (c *caller) linkMails() []ports.Mail {
	c.t.Helper()
	got, err := c.Postgres.Mails.ClaimDue(c.t.Context(), 100, time.Hour)
	require.NoError(c.t, err)
	return got
}

func linkIn(t testing.TB, m ports.Mail) string {
	t.Helper()
	_, rest, found := strings.Cut(m.Body, dashboardBase+"/checkout/")
	require.True(t, found, m.Body)
	link, _, _ := strings.Cut(rest, "\n")
	require.Contains(t, m.HTML, `href="`+dashboardBase+"/checkout/"+link+`"`)
	token, mark, _ := strings.Cut(link, "?mail=")
	require.Regexp(t, "^mrk_[0-9a-z]{26}$", mark)
	return token
}

func TestSendLink_QueuesOneMail_WhoseLinkWorks(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	_, err := c.Pool.Exec(t.Context(), `UPDATE accounts SET timezone = 'America/New_York'`) // the day before
	require.NoError(t, err)
	d := c.created(account, "locale", "fr", "contractStartAt", "2030-08-01T00:00:00Z") // without depositUrlGeneration
	sent := c.post("/deposits/"+d+"/send-link", object{"email": "Jeanne@example.com"}).ok(202)
	waiting := c.linkMails()
	require.Len(t, waiting, 1)
	m := waiting[0]
	require.Equal(t, []any{"Jeanne@example.com", id.Mail.Of(m.ID), d},
		[]any{sent["email"], sent["messageId"], id.Deposit.Of(m.LinkOf)})
	require.Equal(t, "Jeanne@example.com", m.To)
	require.Equal(t, "Votre caution de location", m.Subject)
	for _, part := range []string{m.Body, m.HTML} {
		for _, want := range []string{"Hotel", "Partner acme", "500,00\u00a0€", "31\u00a0juillet\u00a02030",
			"8\u00a0août\u00a02030", "BK-1"} {
			require.Contains(t, part, want)
		}
	}
	v, err := c.Checkout.CheckoutView(t.Context(), secret.Text(linkIn(t, m)))
	require.NoError(t, err)
	require.Equal(t, d, id.Deposit.Of(v.Deposit.ID))
	require.True(t, v.Open)
	require.NotContains(t, c.get("/deposits/"+d).ok(200), "depositUrl", "as before: the partner did not ask for it")

	var actor, detail string
	require.NoError(t,
		c.Pool.QueryRow(t.Context(),
			`SELECT actor, detail::text FROM audit_log WHERE action = 'deposit.send_link' AND subject = $1`, d).Scan(&actor,
			&detail))
	require.Equal(t, "partner:"+id.Partner.Of(c.partner.ID), actor)
	require.JSONEq(t, `{"keyId":"`+c.keyID+`","mails":"1"}`, detail)

	c.post("/deposits/"+d+"/send-link", object{"email": "a@b.example", "locale": "en-GB"}).ok(202)
	require.Equal(t, "Your rental deposit", c.linkMails()[0].Subject, "the language of the request comes first")
}

func TestSendLinkBatch_QueuesAMailForEachRecipient_OrNone(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	d := c.created(account)
	recipients := make([]object, 20)
	for i := range recipients {
		recipients[i] = object{"email": fmt.Sprintf("guest%d@b.example", i)}
	}
	r := c.post("/deposits/"+d+"/send-link/batch", object{"recipients": recipients})
	require.Equal(t, http.StatusAccepted, r.status, "%s", r.body)
	var answered struct {
		Data []struct{ Email, MessageID, Status string }
	}
	require.NoError(t, json.Unmarshal(r.body, &answered))
	waiting := map[string]string{}
	for _, m := range c.linkMails() {
		waiting[m.To] = id.Mail.Of(m.ID)
	}
	require.Len(t, answered.Data, 20)
	require.Len(t, waiting, 20)
	for i, a := range answered.Data {
		require.Equal(t, recipients[i]["email"], a.Email)
		require.Equal(t, []string{waiting[a.Email], "queued"}, []string{a.MessageID, a.Status})
	}
	recipients[19] = object{"email": "nobody"}
	c.leavesNothing(t, func() {
		require.Equal(t, "recipients[19].email: is not an e-mail address",
			c.post("/deposits/"+d+"/send-link/batch", object{"recipients": recipients}).refused(400, "invalid_field"))
	})
}

// Requests at the same moment cannot pass a limit together.
func TestSendLink_ManyAtOnce_KeepTheLimitOfADeposit(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	d := c.created(account)
	var mu sync.Mutex
	var wg sync.WaitGroup
	statuses := map[int]int{}
	for i := range 8 {
		wg.Go(func() {
			recipients := make([]object, 10)
			for n := range recipients {
				recipients[n] = object{"email": fmt.Sprintf("g%d-%d@b.example", i, n)}
			}
			r := c.post("/deposits/"+d+"/send-link/batch", object{"recipients": recipients})
			mu.Lock()
			defer mu.Unlock()
			statuses[r.status]++
		})
	}
	wg.Wait()
	require.Equal(t, map[int]int{202: 6, 429: 2}, statuses)
	require.Len(t, c.linkMails(), 60)
}

// bounded is what the refusal by the bound of an address must tell.
func (r reply) bounded(field string) {
	r.t.Helper()
	require.Equal(r.t, field+": can get 10 links of one sender within 24 hours", r.refused(429, "rate_limited"))
	wait, err := strconv.Atoi(r.header.Get("Retry-After"))
	require.NoError(r.t, err)
	require.InDelta(r.t, 24*time.Hour.Seconds(), wait, 600)
}

func (c *caller) sendsLink(deposit, email string, header ...string) reply {
	c.t.Helper()
	return c.post("/deposits/"+deposit+"/send-link", object{"email": email}, header...)
}

// batch sends the link of a deposit to several.
func (c *caller) batch(deposit string, emails ...string) reply {
	c.t.Helper()
	recipients := make([]object, len(emails))
	for i, e := range emails {
		recipients[i] = object{"email": e}
	}
	return c.post("/deposits/"+deposit+"/send-link/batch", object{"recipients": recipients})
}

func TestSendLink_OfManyDepositsToAnAddress_IsBoundHoweverItIsWritten(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	for name, writings := range map[string][]string{
		"the same":             {"tina@a.example"},
		"letters":              {"tina@b.example", "TINA@b.example", "Tina@B.Example"},
		"tags":                 {"tina+1@c.example", "tina@c.example", "Tina+two@c.example", "tina+@c.example"},
		"dots of one provider": {"ti.na@gmail.com", "tina@googlemail.com", "t.i.n.a+x@Gmail.com"},
	} {
		for i := range 10 {
			c.sendsLink(c.created(account), writings[i%len(writings)]).ok(202)
		}
		d := c.created(account)
		c.leavesNothing(t, func() {
			for _, w := range writings {
				c.sendsLink(d, w).bounded("email")
				c.batch(d, "other@"+name[:1]+".example", w).bounded("recipients[1].email")
			}
		})
		c.sendsLink(d, "other@"+name[:1]+".example").ok(202)
	}
}

func TestSendLinkBatch_OfOneMailboxUnderManyTags_IsRefusedWhole(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	tagged := make([]string, 11)
	for i := range tagged {
		tagged[i] = fmt.Sprintf("tina+%d@a.example", i)
	}
	d := c.created(account)
	c.leavesNothing(t, func() { c.batch(d, tagged...).bounded("recipients[10].email") })
	require.Equal(t, 202, c.batch(d, tagged[:10]...).status)
	c.sendsLink(d, tagged[10]).bounded("email")
}

func TestSendLink_ToAnAddressAtOnce_KeepsTheBound(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	made := make([]string, 32)
	for i := range made {
		made[i] = c.created(account)
	}
	var wg sync.WaitGroup
	statuses := make([]int, len(made))
	for i, d := range made {
		wg.Go(func() { // in both orders, so that two batches wait for one another
			to := []string{"tina@a.example", fmt.Sprintf("t%d@a.example", i%2)}
			statuses[i] = c.batch(d, to[i%2], to[1-i%2]).status
		})
	}
	wg.Wait()
	slices.Sort(statuses)
	require.Equal(t, slices.Concat(slices.Repeat([]int{202}, 10), slices.Repeat([]int{429}, 22)), statuses)
	require.Equal(t, 10, c.Count("mails", "recipient = 'tina@a.example'"))
}

func TestSendLink_ReplaysRefusalsAndLostTransactions_DoNotCount(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	d, key := c.created(account), newKey()
	for range 12 { // one request
		require.Equal(t, 202, c.sendsLink(d, "tina@a.example", "idempotency-key", key).status)
	}
	for range 12 {
		c.batch(d, "tina@a.example", "nobody").refused(400, "invalid_field")
		c.sendsLink("dep_x", "tina@a.example").refused(404, "deposit_not_found")
	}
	for range 9 {
		c.sendsLink(c.created(account), "tina@a.example").ok(202)
	}
	c.sendsLink(c.created(account), "tina@a.example").bounded("email")
}

// 30 mails of all senders refuse those who sent three or more.
func TestSendLink_OfManyPartnersToAnAddress_IsBoundForWhoSentThree(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	partners, made := []*caller{c}, [][]string{{account}}
	for i := range 4 {
		p := c.caller(t, fmt.Sprintf("p%d", i))
		partners, made = append(partners, p), append(made, []string{p.link("hotel")})
	}
	send := func(i int) reply { return partners[i].sendsLink(partners[i].created(made[i][0]), "tina@a.example") }
	for i, n := range []int{9, 9, 8, 3} {
		for range n {
			send(i).ok(202)
		}
	}
	send(4).ok(202) // the 30th
	for i := range 4 {
		require.Equal(t, "email: can get 30 links within 24 hours", send(i).refused(429, "rate_limited"))
	}
	for range 2 { // until it has sent three
		send(4).ok(202)
	}
	send(4).refused(429, "rate_limited")
	c.sendsLink(c.created(account), "bob@a.example").ok(202)
}
