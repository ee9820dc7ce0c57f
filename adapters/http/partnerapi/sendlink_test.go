package partnerapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
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
	got, err := c.Postgres.Mails.Claim(c.t.Context(), 100, time.Hour)
	require.NoError(c.t, err)
	return got
}

func linkIn(t testing.TB, m ports.Mail) string {
	t.Helper()
	_, rest, found := strings.Cut(m.Body, dashboardBase+"/checkout/")
	require.True(t, found, m.Body)
	token, _, _ := strings.Cut(rest, "\n")
	require.Contains(t, m.HTML, `href="`+dashboardBase+"/checkout/"+token+`"`)
	return token
}

func TestSendLink_QueuesOneMail_WhoseLinkWorks(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	d := c.created(account, "locale", "fr") // without depositUrlGeneration
	sent := c.post("/deposits/"+d+"/send-link", object{"email": "Jeanne@example.com"}).ok(202)
	waiting := c.linkMails()
	require.Len(t, waiting, 1)
	m := waiting[0]
	require.Equal(t, []any{"Jeanne@example.com", id.Message.Of(m.ID), d},
		[]any{sent["email"], sent["messageId"], id.Deposit.Of(m.LinkOf)})
	require.Equal(t, "Jeanne@example.com", m.To)
	require.Equal(t, "Votre caution de location", m.Subject)
	for _, part := range []string{m.Body, m.HTML} {
		for _, want := range []string{"Hotel", "Partner acme", "500,00\u00a0€", "1er\u00a0août\u00a02030",
			"8\u00a0août\u00a02030", "BK-1"} {
			require.Contains(t, part, want)
		}
	}
	v, err := c.Checkout.View(t.Context(), secret.Text(linkIn(t, m)))
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
}

func TestSendLink_TellsDaysOfTheAccountsZone(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	_, err := c.Pool.Exec(t.Context(), `UPDATE accounts SET timezone = 'America/New_York'`) // the day before
	require.NoError(t, err)
	d := c.created(account, "locale", "en", "contractStartAt", "2030-08-01T00:00:00Z")
	c.post("/deposits/"+d+"/send-link", object{"email": "jeanne@example.com"}).ok(202)
	require.Contains(t, c.linkMails()[0].Body, "31\u00a0July\u00a02030 to ")
}

func TestSendLink_InTheLanguageOfTheRequest_ThenOfTheDeposit(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	const english, french = "Your rental deposit", "Votre caution de location"
	for _, k := range []struct{ deposit, request, subject string }{
		{"", "", english + " / " + french},
		{"", "fr-BE", french},
		{"fr", "", french},
		{"fr", "en-GB", english},
		{"de", "", english},
	} {
		var locale, asked any
		if k.deposit != "" {
			locale = k.deposit
		}
		body := object{"email": "a@b.example"}
		if asked = k.request; k.request != "" {
			body["locale"] = asked
		}
		c.post("/deposits/"+c.created(account, "locale", locale)+"/send-link", body).ok(202)
		waiting := c.linkMails()
		require.Len(t, waiting, 1)
		require.Equal(t, k.subject, waiting[0].Subject, "%+v", k)
	}
}

func TestSendLinkBatch_QueuesAMailForEachRecipient_OrNone(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	d := c.created(account)
	recipients := make([]object, 20)
	for i := range recipients {
		recipients[i] = object{"email": fmt.Sprintf("guest%d@b.example", i)}
	}
	key := newKey()
	r := c.post("/deposits/"+d+"/send-link/batch", object{"recipients": recipients}, "idempotency-key", key)
	require.Equal(t, http.StatusAccepted, r.status, "%s", r.body)
	var answered struct {
		Data []struct{ Email, MessageID, Status string }
	}
	require.NoError(t, json.Unmarshal(r.body, &answered))
	require.Equal(t, r.body,
		c.post("/deposits/"+d+"/send-link/batch", object{"recipients": recipients}, "idempotency-key", key).body)
	waiting := map[string]string{}
	for _, m := range c.linkMails() {
		waiting[m.To] = id.Message.Of(m.ID)
	}
	require.Len(t, answered.Data, 20)
	require.Len(t, waiting, 20, "the repeated request sends nothing")
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

func TestSendLink_Limits_HoldForADay(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	d := c.created(account)
	for range 5 {
		c.post("/deposits/"+d+"/send-link", object{"email": "a@b.example"}).ok(202)
	}
	c.leavesNothing(t, func() {
		r := c.post("/deposits/"+d+"/send-link", object{"email": "A@B.example"})
		require.Equal(t, "email: can get the link of this deposit 5 times within 24 hours", r.refused(429, "rate_limited"))
		wait, err := strconv.Atoi(r.header.Get("Retry-After"))
		require.NoError(t, err)
		require.InDelta(t, 24*3600, wait, 300)
	})
	c.post("/deposits/"+c.created(account)+"/send-link", object{"email": "a@b.example"}).ok(202)
	c.clock.advance(24*time.Hour + time.Minute)
	c.post("/deposits/"+d+"/send-link", object{"email": "a@b.example"}).ok(202)
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
