package checkout_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/system"
	"partnerdeposits/app/deposits"
	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/app/platform/mails"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	partners "partnerdeposits/core/partner"
	"partnerdeposits/core/tenant"
)

// sends mails the link of a new deposit as a partner's API does.
func (w *world) sends(email string) error {
	w.t.Helper()
	d, _ := w.CreateDeposit(w.t)
	_, err := w.Deposits.SendLink(w.t.Context(), partners.Caller{Partner: partners.Partner{ID: w.PartnerID}},
		deposits.SendLinkRequest{DepositID: d.ID, Recipients: []tenant.MailContact{{Email: email}}},
		idempotent.KeyAndEncoder[[]deposits.QueuedLinkMail]{Encode: func([]deposits.QueuedLinkMail) (idempotent.Response,
			error) {
			return idempotent.Response{}, nil
		}})
	return err
}

// links are those that were mailed to an address, oldest first.
func (w *world) links(email string) (links []string) {
	w.t.Helper()
	for _, m := range w.ListMails(email) {
		_, rest, found := strings.Cut(m.Body, w.base+"/checkout/")
		require.True(w.t, found, m.Body)
		link, _, _ := strings.Cut(rest, "\n")
		links = append(links, w.base+"/checkout/"+link)
	}
	return links
}

func (w *world) sendsTen(email string) {
	w.t.Helper()
	for range 10 {
		require.NoError(w.t, w.sends(email))
	}
	require.ErrorIs(w.t, w.sends(email), fault.ErrRateLimited)
}

func TestMailedLink_OnceItsReaderHasOpenedIt_CountsNoMore(t *testing.T) {
	w := setup(t)
	w.sendsTen("tina@a.example")
	w.sendsTen("bob@a.example")
	links := w.links("tina@a.example")
	plain, _, _ := strings.Cut(links[3], "?")
	for name, link := range map[string]string{
		"the partner's own depositUrl": plain,
		"another parameter":            plain + "?lang=fr",
		"a mark of the sender's own":   plain + "?mail=" + id.LinkMailMark.Of(system.Entropy{}.NewID()),
		"the id of the mail":           plain + "?mail=" + id.LinkMailMark.Of(w.ListMails("tina@a.example")[3].ID),
		"no mark":                      plain + "?mail=x%00",
		"the mark of another's mail":   plain + "?" + strings.SplitN(w.links("bob@a.example")[0], "?", 2)[1],
	} {
		require.Equal(t, http.StatusOK, w.browser().get(link).status, name)
		require.ErrorIs(t, w.sends("tina@a.example"), fault.ErrRateLimited, name)
	}
	require.NoError(t, w.sends("bob@a.example"), "whose mark was opened")
	_, marked, _ := strings.Cut(links[3], "?")
	require.Equal(t, http.StatusNotFound, w.browser().get(w.base+"/checkout/unknown?"+marked).status)
	require.ErrorIs(t, w.sends("tina@a.example"), fault.ErrRateLimited, "the page of a deposit was not seen")

	require.Equal(t, http.StatusOK, w.browser().get(links[3]).status)
	w.sendsTen("Tina+2@a.example")
	for _, used := range links {
		require.Equal(t, http.StatusOK, w.browser().get(used).status)
	}
	require.ErrorIs(t, w.sends("tina@a.example"), fault.ErrRateLimited, "none of the marks works twice")
}

func TestMailedLink_OfAPartnerAndOfAnOperator_HaveBoundsOfTheirOwn(t *testing.T) {
	w := setup(t)
	account, o, err := w.Postgres.Operators.AccountByID(t.Context(), w.AccountID)
	require.NoError(t, err)
	by, key := deposits.OperatorCaller{Operator: o, Account: account}, byte(0)
	operatorSends := func(email string) error {
		d, _ := w.CreateDeposit(t)
		key++
		return w.Deposits.SendLinkByOperator(t.Context(), by, deposits.ActForm{DepositID: d.ID, Key: [16]byte{key}},
			tenant.MailContact{Email: email})
	}
	w.sendsTen("tina@a.example")
	for range 10 {
		require.NoError(t, operatorSends("tina@a.example"))
	}
	require.ErrorContains(t, operatorSends("tina@a.example"), "email: can get 10 links of one sender within 24 hours")
	require.Equal(t, http.StatusOK, w.browser().get(w.links("tina@a.example")[12]).status)
	require.ErrorIs(t, w.sends("tina@a.example"), fault.ErrRateLimited, "it opened the operator's link")
	require.NoError(t, operatorSends("tina@a.example"))
	var readable int
	require.NoError(t, w.Pool.QueryRow(t.Context(), `SELECT count(*) FROM sent_links l
		WHERE l::text ILIKE '%tina%' OR l::text LIKE '%' || encode('tina', 'hex') || '%' OR length(mailbox) <> 32
		OR mailbox = sha256('tina@a.example') OR mailbox = sha256('mailbox:tina@a.example')`).Scan(&readable))
	require.Zero(t, readable)
}

func TestMailedLink_ADayLater_CountsNoMoreAndIsForgotten(t *testing.T) {
	w := setup(t)
	w.sendsTen("tina@a.example")
	require.Equal(t, 10, w.Count("sent_links", ""))
	w.Clock.Add(24*time.Hour - time.Second)
	require.ErrorIs(t, w.sends("tina@a.example"), fault.ErrRateLimited)
	w.Clock.Add(time.Second)
	w.sendsTen("tina@a.example")
	w.Clock.Set(time.Now().Add(24*time.Hour + time.Minute)) // ids have the time of the machine
	_, err := mails.MailCleaningJob(w.Postgres.Mails, w.Clock).Run(t.Context())
	require.NoError(t, err)
	require.Zero(t, w.Count("sent_links", ""))
	require.Len(t, w.ListMails("tina@a.example"), 20, "the mails stay")
}
