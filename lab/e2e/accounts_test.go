package e2e_test

import (
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"

	smtpmock "github.com/mocktools/go-smtp-mock/v2"
	"github.com/stretchr/testify/require"
)

var mailedLink = regexp.MustCompile(`http://[^/\s]+/(?:verify|password/reset)\?token=[A-Za-z0-9_-]{43}`)

// linkTo waits for a mail to the address with a link to a page, and gives the link.
func linkTo(t testing.TB, server *smtpmock.Server, address, page string) (link string) {
	t.Helper()
	require.Eventually(t, func() bool {
		for _, m := range server.Messages() {
			if !strings.Contains(strings.Join(flat(m.RcpttoRequestResponse()), " "), address) {
				continue
			}
			text := strings.NewReplacer("=\r\n", "", "=3D", "=").Replace(m.MsgRequest()) // quoted-printable
			for _, found := range mailedLink.FindAllString(text, -1) {
				if strings.Contains(found, page) {
					link = found
				}
			}
		}
		return link != ""
	}, soon, often, "no mail to %s with a link to %s", address, page)
	return link
}

// TestAccounts_AreVerifiedAndRecoveredByMail: http stores the requests, and the dispatcher mails the links.
func TestAccounts_AreVerifiedAndRecoveredByMail(t *testing.T) {
	t.Parallel()
	server := smtpmock.New(smtpmock.ConfigurationAttr{HostAddress: "127.0.0.1", MultipleMessageReceiving: true})
	require.NoError(t, server.Start())
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	w := newWorld(t, "SMTP_URL=smtp://127.0.0.1:"+strconv.Itoa(server.PortNumber()), "MAIL_FROM=Deposits <no-reply@example.com>")
	h := w.http(t)
	w.dispatcher(t)
	w.link(t, "villa-91")
	b, address := newBrowser(t), "villa-91@example.com"
	verify := linkTo(t, server, address, "/verify?")
	require.Contains(t, b.submit(b.open(verify), nil).body, "Your address is verified")

	sent := b.submit(b.open(w.baseURL+"/password/forgot"), url.Values{"email": {address}})
	require.Contains(t, sent.body, "Look into your mailbox")
	reset := linkTo(t, server, address, "/password/reset?")
	require.Equal(t, "/login", b.submit(b.open(reset), url.Values{"password": {"another-password"}}).url.Path)
	require.Equal(t, "/dashboard", b.submit(b.open(w.baseURL+"/login"), url.Values{"email": {address}, "password": {"another-password"}}).url.Path)

	var shown struct{ VerifiedAt string }
	w.admin(t, &shown, "operator", "show", address)
	require.NotEmpty(t, shown.VerifiedAt)
	for _, link := range []string{verify, reset} {
		_, token, _ := strings.Cut(link, "token=")
		require.NotContains(t, h.log.String(), token, "no log has the token of a mail")
	}
}
