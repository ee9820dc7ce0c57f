package partnerapi_test

import (
	"encoding/json"
	"fmt"
	"net/http"
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
	_, err := c.Pool.Exec(t.Context(), `UPDATE accounts SET timezone = 'America/New_York'`) // the day before
	require.NoError(t, err)
	d := c.created(account, "locale", "fr", "contractStartAt", "2030-08-01T00:00:00Z") // without depositUrlGeneration
	sent := c.post("/deposits/"+d+"/send-link", object{"email": "Jeanne@example.com"}).ok(202)
	waiting := c.linkMails()
	require.Len(t, waiting, 1)
	m := waiting[0]
	require.Equal(t, []any{"Jeanne@example.com", id.Message.Of(m.ID), d},
		[]any{sent["email"], sent["messageId"], id.Deposit.Of(m.LinkOf)})
	require.Equal(t, "Jeanne@example.com", m.To)
	require.Equal(t, "Votre caution de location", m.Subject)
	for _, part := range []string{m.Body, m.HTML} {
		for _, want := range []string{"Hotel", "Partner acme", "500,00\u00a0€", "31\u00a0juillet\u00a02030",
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
		waiting[m.To] = id.Message.Of(m.ID)
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
