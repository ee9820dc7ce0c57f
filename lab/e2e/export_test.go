package e2e_test

import (
	"io"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/lab/stock"
)

// TestExport_ThatNobodyReads_Ends: a built http ends the answers to readers that take nothing, who otherwise keep all
// that the account may read at once. The rest is proven in adapters/http/dashboard.
func TestExport_ThatNobodyReads_Ends(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.http(t)
	account := w.link(t, "villa-71")
	b := newBrowser(t)
	in := b.submit(b.open(w.baseURL+"/login"), url.Values{"email": {"villa-71@example.com"},
		"password": {"correct-horse"}})
	require.Equal(t, "/dashboard", in.url.Path)
	base, err := url.Parse(w.baseURL)
	require.NoError(t, err)
	session := ""
	for _, c := range b.client.Jar.(*cookiejar.Jar).Cookies(base) {
		session += c.Name + "=" + c.Value + "; "
	}
	partnerID, _ := id.Partner.Parse(w.partnerID)
	accountID, _ := id.Account.Parse(account)
	require.NoError(t, stock.FillDatabase(t.Context(), w.database(t), []stock.Owner{{Partner: partnerID,
		Account: accountID}},
		stock.RowCounts{Deposits: 20_000}))

	for range 5 {
		conn, err := net.Dial("tcp", base.Host)
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		require.NoError(t, conn.(*net.TCPConn).SetReadBuffer(4<<10))
		_, err = io.WriteString(conn, "GET /dashboard/deposits.csv HTTP/1.1\r\nHost: x\r\nCookie: "+session+"\r\n\r\n")
		require.NoError(t, err)
		first := make([]byte, len("HTTP/1.1 200"))
		_, err = io.ReadFull(conn, first)
		require.NoError(t, err)
		require.Equal(t, "HTTP/1.1 200", string(first))
	}
	export := func() int {
		response, err := b.client.Get(w.baseURL + "/dashboard/deposits.csv")
		require.NoError(t, err)
		defer func() { _ = response.Body.Close() }()
		_, err = io.Copy(io.Discard, response.Body)
		require.NoError(t, err)
		return response.StatusCode
	}
	require.Equal(t, http.StatusTooManyRequests, export(), "five exports at a time")
	// A write may take half a minute, and buffers of the kernel take some writes before one waits.
	require.Eventually(t, func() bool { return export() == http.StatusOK }, 3*soon, 200*time.Millisecond,
		"readers that take nothing are ended")
}
