package e2e_test

import (
	"regexp"
	"strconv"
	"strings"
	"testing"

	smtpmock "github.com/mocktools/go-smtp-mock/v2"
	"github.com/stretchr/testify/require"
)

// mailServer starts a server that takes mails, and gives the setting that leads to it.
func mailServer(t testing.TB) (server *smtpmock.Server, setting string) {
	t.Helper()
	server = smtpmock.New(smtpmock.ConfigurationAttr{HostAddress: "127.0.0.1", MultipleMessageReceiving: true})
	require.NoError(t, server.Start())
	t.Cleanup(func() { require.NoError(t, server.Stop()) })
	return server, "SMTP_URL=smtp://127.0.0.1:" + strconv.Itoa(server.PortNumber())
}

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
