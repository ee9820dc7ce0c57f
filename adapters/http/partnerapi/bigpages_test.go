package partnerapi_test

import (
	"bufio"
	"encoding/json"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"sync"
	"sync/atomic"
	"syscall"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/partnerapi"
	"partnerdeposits/core/id"
)

// mixed is a text of a length that differs from row to row: some are short, some fill a page alone, and some are
// escaped when they are encoded.
const mixed = `CASE get_byte(uuid_send(id), 15) % 16 WHEN 0 THEN 'short' WHEN 1 THEN repeat('x', 300000)
	WHEN 2 THEN repeat(E'\x01', 20000) WHEN 3 THEN repeat('"', 60000)
	ELSE repeat('🏠', get_byte(uuid_send(id), 15) * 60) END`

const enlargeDeposits = `UPDATE deposits SET metadata = jsonb_build_object('k', ` + mixed + `)
	WHERE partner_id = @partner`

const enlargeEvents = `UPDATE events SET data = (data::jsonb || jsonb_build_object('x', ` + mixed + `))::text
	WHERE partner_id = @partner`

// largeItems enlarge the rows of lists.
var largeItems = []struct {
	of      string // beginning of the path of a moving list
	path    string // "": that of the moving list
	enlarge string
}{
	{"/deposits?", "", enlargeDeposits},
	{"/deposits?", "/deposits?rentalContract=BK-1&status=pending", enlargeDeposits},
	{"/clients?", "", `UPDATE clients SET phone = ` + mixed + ` WHERE partner_id = @partner`},
	{"/webhooks?", "", `UPDATE webhook_subscriptions SET url = 'https://' || ` + mixed + ` WHERE partner_id = @partner`},
	{"/webhooks/{subscription}/deliveries?", "", `INSERT INTO delivery_attempts
		(delivery_id, number, started_at, duration_ms, result, snippet)
		SELECT id, n, created_at, 1, 'timeout', left(` + mixed + `, 1024) FROM deliveries CROSS JOIN generate_series(1, 11) n
		WHERE subscription_id = @subscription`},
	{"/api-keys?", "", `UPDATE api_keys SET name = ` + mixed + ` WHERE partner_id = @partner`},
	{"/events?", "", enlargeEvents},
	{"/events?", "/events?event=deposit.cancelled", enlargeEvents},
	{"/events?", "/events/feed?", enlargeEvents},
}

// Each page has as many items as fit, and the next page begins with the first that did not.
func TestLists_OfLargeItems_EndByBytes_AndLeaveNothingOut(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	for i, l := range largeItems {
		t.Run(l.of+l.path, func(t *testing.T) {
			m, rows := largeRows(t, w.caller(t, "acme-"+string(rune('a'+i))), l.of, 60, l.enlarge)
			if l.path != "" {
				m.path = l.path
			}
			for range 2 { // the second time it is known how large the items are
				seen := m.readsAll(t)
				for _, row := range rows {
					require.Equal(t, 1, seen[m.kind.Of(row)])
				}
			}
		})
	}
}

// largeRows adds rows of a list, and enlarges them.
func largeRows(t *testing.T, c *caller, of string, many int, enlarge string) (m *movingRows, rows []id.ID) {
	t.Helper()
	for _, l := range movingLists {
		if l.path == of {
			m = newMovingRows(t, c, l)
			m.http = &http.Client{Transport: c.transport} // the document has no texts as long as these
			for n := range many {
				rows = append(rows, m.insert(m.newest.Add(-time.Duration(n)*time.Second)))
			}
			m.exec(enlarge, pgx.NamedArgs{})
		}
	}
	require.NotNil(t, m)
	return m, rows
}

// readsAll reads the list to its end, and checks each page. It gives how often each item came.
func (m *movingRows) readsAll(t *testing.T) map[string]int {
	t.Helper()
	seen := map[string]int{}
	const pageBytes = 256_000
	room, from := -1, "" // of the page before
	for {
		answer := m.get(m.path + from)
		page, items := answer.parsed(), []json.RawMessage{}
		require.NoError(t, json.Unmarshal(page.Data, &items), "%s", answer.body)
		if len(items) > 0 {
			require.Greater(t, len(",")+len(items[0]), room, "the item fitted the page before")
		}
		for _, item := range answer.list() {
			seen[text(t, item, m.field)]++
		}
		size := len(page.Data) - len("[]")
		require.True(t, size <= pageBytes || len(items) == 1, "%d bytes in %d items", size, len(items))
		room = pageBytes - size
		switch next := page.Pagination.NextCursor; {
		case strings.HasPrefix(m.path, "/events/feed"):
			if len(items) == 0 {
				return seen
			}
			from = fmt.Sprint("&after=", answer.whole()["nextAfter"])
		case page.Pagination.HasMore:
			from = "&cursor=" + url.QueryEscape(*next)
			require.Contains(t, answer.header.Get("Link"), *next)
		default:
			require.Empty(t, answer.header.Get("Link"))
			return seen
		}
	}
}

const fatDeposits = `UPDATE deposits SET metadata = jsonb_build_object('k', repeat('🏠', 11000))
	WHERE partner_id = @partner`

// unread asks for a list so many times and reads no answer.
func (c *caller) unread(t *testing.T, times int, path string) (all []net.Conn) {
	t.Helper()
	small := net.Dialer{Control: func(_, _ string, raw syscall.RawConn) error {
		return raw.Control(func(fd uintptr) {
			_ = syscall.SetsockoptInt(int(fd), syscall.SOL_SOCKET, syscall.SO_RCVBUF, 4<<10)
		})
	}}
	for range times {
		conn, err := small.DialContext(t.Context(), "tcp", strings.TrimPrefix(c.url, "http://"))
		require.NoError(t, err)
		t.Cleanup(func() { _ = conn.Close() })
		_, err = fmt.Fprintf(conn, "GET %s%s HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\n\r\n", partnerapi.PathPrefix, path, c.key)
		require.NoError(t, err)
		all = append(all, conn)
	}
	return all
}

// A partner whose answers wait for their readers gets no further lists, until the readers are ended.
func TestLists_OfAPartnerThatReadsNoAnswer_AreRefused(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	m, _ := largeRows(t, w.caller(t, "acme"), "/deposits?", 20, fatDeposits)
	other, _ := largeRows(t, w.caller(t, "other"), "/deposits?", 20, fatDeposits)
	left := m.unread(t, 40, "/deposits")
	require.Eventually(t, func() bool { return m.get("/deposits").status == http.StatusTooManyRequests }, time.Minute,
		10*time.Millisecond)
	for _, path := range []string{"/deposits", "/deposits?limit=1", "/events/feed", "/events", "/clients"} {
		refused := m.get(path)
		refused.refused(http.StatusTooManyRequests, "rate_limited")
		require.Equal(t, "1", refused.header.Get("Retry-After"))
	}
	require.NotZero(t, w.limited.Load(), "they count as refused")
	m.get("/me").ok(http.StatusOK)
	first := other.get("/deposits").list()
	require.Len(t, first, 5, "another partner reads")
	m.post("/clients", object{"accountId": m.link("hotel-2"), "email": "a@b.example", "firstName": "A",
		"lastName": "B"}).ok(http.StatusCreated)

	require.Eventually(t, func() bool { return m.get("/deposits").status == http.StatusOK }, time.Minute,
		100*time.Millisecond, "who takes nothing is ended")
	for _, conn := range left[:5] {
		require.NoError(t, conn.SetReadDeadline(time.Now().Add(time.Minute)))
		got, err := io.Copy(io.Discard, conn)
		require.True(t, err != nil || got < 256_000, "the answer is not whole")
	}
}

// A partner that asks for many large lists at once gets them one after another, so that the requests of others are not
// kept waiting.
func TestLists_OfOneMomentThatAreLarge_AreSpread(t *testing.T) {
	t.Parallel()
	m, _ := largeRows(t, newWorld(t).caller(t, "acme"), "/deposits?", 20, fatDeposits)
	const atOnce, lists = 2, 8
	var all sync.WaitGroup
	var bytes atomic.Int64
	begin := time.Now()
	for range lists {
		all.Go(func() { bytes.Add(int64(len(m.get("/deposits").body))) })
	}
	all.Wait()
	each := time.Duration(bytes.Load()/lists) * time.Second / (4 << 20)
	require.Greater(t, each, 50*time.Millisecond)
	require.GreaterOrEqual(t, time.Since(begin), each*(lists/atOnce-1))
}

// Answers to some partners leave room for others.
func TestLists_OfAProcessWhoseAnswersNobodyReads_AreUnavailable(t *testing.T) {
	t.Parallel()
	const kept = 8 << 20 // for partners that had no large answer lately
	w := newWorldWith(t, func(_ *fiber.App, d *partnerapi.Deps) { d.AnswersOfAll = kept + 1<<20 })
	fat := func(slug string) *movingRows {
		m, _ := largeRows(t, w.caller(t, slug), "/deposits?", 20, fatDeposits)
		return m
	}
	regular, rare := fat("regular"), fat("rare")
	require.Len(t, regular.get("/deposits").list(), 5)
	fat("silent").unread(t, 6, "/deposits")
	var refused reply
	require.Eventually(t, func() bool {
		refused = regular.get("/deposits", "Accept-Encoding", "identity")
		return refused.status != http.StatusOK
	}, time.Minute, 10*time.Millisecond)
	refused.refused(http.StatusServiceUnavailable, "service_unavailable")
	require.NotEmpty(t, refused.header.Get("Retry-After"))
	require.Empty(t, refused.header.Get("Content-Encoding"))
	require.Equal(t, http.StatusOK, regular.get("/clients").status, "a small answer")
	require.Len(t, rare.get("/deposits").list(), 5, "who had no large answer lately finds room")
}

// A large answer whose reader has closed the connection no longer counts against its partner.
func TestLists_OfAPartnerWhoseReadersGoAway_AreServedAtOnce(t *testing.T) {
	t.Parallel()
	m, _ := largeRows(t, newWorld(t).caller(t, "acme"), "/deposits?", 20, fatDeposits)
	for range 3 {
		left := m.unread(t, 40, "/deposits")
		require.Eventually(t, func() bool { return m.get("/deposits").status == http.StatusTooManyRequests }, time.Minute,
			10*time.Millisecond)
		for _, conn := range left {
			require.NoError(t, conn.Close())
		}
		require.Eventually(t, func() bool { return m.get("/deposits").status == http.StatusOK }, 4*time.Second,
			10*time.Millisecond, "before the least rate ends anybody")
	}
}

// An answer that was read is not counted any more, whether it was compressed, asked for by HEAD, or pipelined.
func TestLists_ThatAreRead_LeaveRoomForMore(t *testing.T) {
	t.Parallel()
	c := newWorld(t).caller(t, "acme")
	m, _ := largeRows(t, c, "/deposits?", 20, fatDeposits)
	gzip := m.get("/deposits", "Accept-Encoding", "gzip")
	require.Equal(t, "gzip", gzip.header.Get("Content-Encoding"))
	for n := range 60 {
		switch n % 3 {
		case 0:
			require.Len(t, m.get("/deposits").list(), 5)
		case 1:
			require.Equal(t, http.StatusOK, m.get("/deposits", "Accept-Encoding", "gzip").status)
		default:
			require.Equal(t, http.StatusOK, m.do(http.MethodHead, "/deposits", nil).status)
		}
	}
	conn := m.unread(t, 1, "/deposits")[0]
	for range 39 {
		_, err := fmt.Fprintf(conn, "GET %s/deposits HTTP/1.1\r\nHost: x\r\nX-Api-Key: %s\r\n\r\n", partnerapi.PathPrefix, c.key)
		require.NoError(t, err)
	}
	r := bufio.NewReader(conn)
	for range 40 {
		res, err := http.ReadResponse(r, nil)
		require.NoError(t, err)
		n, err := io.Copy(io.Discard, res.Body)
		require.NoError(t, err)
		require.Equal(t, []any{http.StatusOK, res.ContentLength}, []any{res.StatusCode, n})
	}
}
