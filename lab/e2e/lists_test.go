package e2e_test

import (
	"fmt"
	"io"
	"net"
	"net/http"
	"os"
	"regexp"
	"strconv"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/lab/stock"
)

// fillWithLargeDeposits gives the partner deposits whose metadata is as large as it may be: 44 kB each.
func (w *deployment) fillWithLargeDeposits(t testing.TB) {
	t.Helper()
	partnerID, _ := id.Partner.Parse(w.partnerID)
	accountID, _ := id.Account.Parse(w.link(t, "villa-72"))
	require.NoError(t, stock.FillDatabase(t.Context(), w.database(t), []stock.Owner{{Partner: partnerID,
		Account: accountID}},
		stock.RowCounts{Deposits: 120}))
	_, err := w.database(t).Exec(t.Context(), `UPDATE deposits SET by_partner_api = true, metadata =
		(SELECT jsonb_object_agg(lpad(n::text, 40, 'k'), repeat('🏠', 500)) FROM generate_series(1, 20) n)`)
	require.NoError(t, err)
}

// peak is the most memory that a process has had, in MB.
func (p *process) peak(t testing.TB) int {
	t.Helper()
	status, err := os.ReadFile(fmt.Sprintf("/proc/%d/status", p.Pid()))
	require.NoError(t, err)
	found := regexp.MustCompile(`VmHWM:\s+(\d+) kB`).FindSubmatch(status)
	require.NotNil(t, found)
	kB, err := strconv.Atoi(string(found[1]))
	require.NoError(t, err)
	return kB / 1000
}

// TestLists_ThatNobodyReads_TakeLittleMemory: a built http under 150 lists of one key that are not read.
func TestLists_ThatNobodyReads_TakeLittleMemory(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := w.http(t)
	w.fillWithLargeDeposits(t)
	idle := h.peak(t)
	for range 150 {
		conn, err := net.Dial("tcp", strings.TrimPrefix(w.baseURL, "http://"))
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		require.NoError(t, conn.(*net.TCPConn).SetReadBuffer(4<<10))
		_, err = fmt.Fprintf(conn, "GET /api/partner/v1/deposits HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\n\r\n", w.apiKey)
		require.NoError(t, err)
	}
	list := func() int {
		request, err := http.NewRequestWithContext(t.Context(), http.MethodGet, w.baseURL+"/api/partner/v1/deposits", nil)
		require.NoError(t, err)
		request.Header.Set("X-Api-Key", w.apiKey)
		answer, err := plain.Do(request)
		require.NoError(t, err)
		_, err = io.Copy(io.Discard, answer.Body)
		require.NoError(t, err)
		require.NoError(t, answer.Body.Close())
		return answer.StatusCode
	}
	require.Eventually(t, func() bool { return list() == http.StatusTooManyRequests }, soon, often, "they count")
	require.Eventually(t, func() bool { return list() == http.StatusOK }, soon, 10*often, "who reads nothing is ended")
	t.Logf("http took %d MB at most, %d MB before", h.peak(t), idle)
	require.Less(t, h.peak(t), 300)
}
