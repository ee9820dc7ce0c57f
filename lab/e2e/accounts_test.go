package e2e_test

import (
	"net/http"
	"net/url"
	"regexp"
	"strconv"
	"strings"
	"testing"
	"time"

	smtpmock "github.com/mocktools/go-smtp-mock/v2"
	"github.com/pquerna/otp/totp"
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

// mailWorld is a world whose mails reach a server: http, dispatcher and the server.
func mailWorld(t *testing.T) (*deployment, *smtpmock.Server, *process) {
	t.Helper()
	server := smtpmock.New(smtpmock.ConfigurationAttr{HostAddress: "127.0.0.1", MultipleMessageReceiving: true})
	require.NoError(t, server.Start())
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	w := newWorld(t, "SMTP_URL=smtp://127.0.0.1:"+strconv.Itoa(server.PortNumber()),
		"MAIL_FROM=Deposits <no-reply@example.com>")
	h := w.http(t)
	w.dispatcher(t)
	return w, server, h
}

// TestAccounts_ASignUpWithAStrangersAddress_IsTakenBackByItsOwner: the stranger turns no codes on, a click on our mail
// in the owner's browser verifies nothing, and a reset gives the account to the owner without the codes of an earlier
// version.
func TestAccounts_ASignUpWithAStrangersAddress_IsTakenBackByItsOwner(t *testing.T) {
	t.Parallel()
	w, server, _ := mailWorld(t)
	address := "villa-92@example.com"
	w.link(t, "villa-92")
	stranger := newBrowser(t)
	require.Equal(t, "/dashboard", stranger.submit(stranger.open(w.baseURL+"/login"),
		url.Values{"email": {address}, "password": {"correct-horse"}}).url.Path)
	settings := stranger.open(w.baseURL + "/dashboard/settings")
	token := settings.form(t, url.Values{"companyName": nil}).values.Get("csrf_token")
	response, err := stranger.client.PostForm(w.baseURL+"/dashboard/settings",
		url.Values{"csrf_token": {token}, "intent": {"enable_totp"}, "currentPassword": {"correct-horse"}})
	require.NoError(t, err)
	refused := stranger.read(response)
	require.Equal(t, http.StatusForbidden, refused.status, refused.body)

	owner := newBrowser(t)
	verify := linkTo(t, server, address, "/verify?")
	asked := owner.submit(owner.open(verify), url.Values{"password": {"what-password?"}})
	require.Equal(t, http.StatusUnprocessableEntity, asked.status, "a click does not verify: "+asked.body)

	db := w.database(t)
	change := func(verified string) {
		_, err := db.Exec(t.Context(), `UPDATE operators SET verified_at = `+verified+` WHERE email = $1`, address)
		require.NoError(t, err)
	}
	change("now()")
	turnOnCodes(t, stranger, w.baseURL, "correct-horse")
	change("NULL")

	owner.submit(owner.open(w.baseURL+"/password/forgot"), url.Values{"email": {address}})
	reset := linkTo(t, server, address, "/password/reset?")
	require.Equal(t, "/login", owner.submit(owner.open(reset), url.Values{"password": {"another-password"}}).url.Path)
	require.Equal(t, "/dashboard", owner.submit(owner.open(w.baseURL+"/login"),
		url.Values{"email": {address}, "password": {"another-password"}}).url.Path, "no code is asked")
	first := owner.open(w.baseURL + "/dashboard")
	require.Contains(t, first.body, "Made before you proved your address")
	require.Contains(t, first.body, "The account is linked to ")
	require.Equal(t, "/login", stranger.open(w.baseURL+"/dashboard").url.Path, "the stranger is out")
}

// turnOnCodes turns two-factor codes on for the signed-in operator.
func turnOnCodes(t *testing.T, b *browser, baseURL, password string) {
	t.Helper()
	shown := b.act(b.open(baseURL+"/dashboard/settings"), "enable_totp", url.Values{"currentPassword": {password}})
	secret := regexp.MustCompile(`(?:[A-Z2-7]{4} ){7}[A-Z2-7]{4}`).FindString(shown.body)
	require.NotEmpty(t, secret, shown.body)
	code, err := totp.GenerateCode(strings.ReplaceAll(secret, " ", ""), time.Now())
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, b.act(shown, "confirm_totp", url.Values{"code": {code}}).status)
}

// TestAccounts_AreVerifiedAndRecoveredByMail: http stores the requests, and the dispatcher mails the links.
func TestAccounts_AreVerifiedAndRecoveredByMail(t *testing.T) {
	t.Parallel()
	w, server, h := mailWorld(t)
	w.link(t, "villa-91")
	b, address := newBrowser(t), "villa-91@example.com"
	verify := linkTo(t, server, address, "/verify?")
	require.Contains(t, b.submit(b.open(verify), url.Values{"password": {"correct-horse"}}).body,
		"Your address is verified")

	sent := b.submit(b.open(w.baseURL+"/password/forgot"), url.Values{"email": {address}})
	require.Contains(t, sent.body, "Look into your mailbox")
	reset := linkTo(t, server, address, "/password/reset?")
	require.Equal(t, "/login", b.submit(b.open(reset), url.Values{"password": {"another-password"}}).url.Path)
	require.Equal(t, "/dashboard",
		b.submit(b.open(w.baseURL+"/login"), url.Values{"email": {address}, "password": {"another-password"}}).url.Path)

	var shown struct{ VerifiedAt string }
	w.admin(t, &shown, "operator", "show", address)
	require.NotEmpty(t, shown.VerifiedAt)
	for _, link := range []string{verify, reset} {
		_, token, _ := strings.Cut(link, "token=")
		require.NotContains(t, h.log.String(), token, "no log has the token of a mail")
	}
}
