package dashboard

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"strconv"
	"sync/atomic"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/problem"
	"partnerdeposits/app/deposits/desk"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	depositports "partnerdeposits/ports/deposits"
	ports "partnerdeposits/ports/platform"
)

// breaking gives so many pages of deposits and then fails.
type breaking struct {
	depositports.DashboardReader
	pages int
	read  atomic.Int64
}

func (b *breaking) DashboardDeposits(context.Context, depositports.DashboardFilter,
	ports.Page) (ports.ListPage[*deposit.Deposit], error) {
	if b.read.Add(1) > int64(b.pages) {
		return ports.ListPage[*deposit.Deposit]{}, errors.New("the database went away")
	}
	page := ports.ListPage[*deposit.Deposit]{Next: ports.Cursor{At: time.Unix(1, 0), ID: id.ID{1}}}
	for range exportPage {
		page.Items = append(page.Items, &deposit.Deposit{Reference: "D-1234-5678"})
	}
	return page, nil
}

// short has a deposit.
type short struct{ depositports.DashboardReader }

func (short) DashboardDeposits(context.Context, depositports.DashboardFilter,
	ports.Page) (ports.ListPage[*deposit.Deposit], error) {
	return ports.ListPage[*deposit.Deposit]{Items: []*deposit.Deposit{{Reference: "D-1234-5678"}}}, nil
}

// open is a limiter that allows everything.
type open struct{ ports.Limiter }

func (open) Allow(context.Context, ...ports.LimitRule) ports.LimitDecision {
	return ports.LimitDecision{Allowed: true}
}

// exporting serves exports of the store, and gives a function that begins one of an account.
func exporting(t *testing.T, store depositports.DashboardReader) (begin func(account byte) *http.Response) {
	t.Helper()
	p := &pages{
		Deps:    Deps{Desk: desk.New(desk.Deps{Desk: store}), Limiter: open{}, Log: slog.New(slog.DiscardHandler)},
		exports: newWorks(placesAtOnce, bytesAtOnce, errExports),
	}
	app := fiber.New(fiber.Config{DisableStartupMessage: true, ErrorHandler: func(c *fiber.Ctx, err error) error {
		c.Set(fiber.HeaderRetryAfter, fault.FromError(err).RetryAfter.String())
		return c.Status(problem.HTTPStatus(fault.KindOf(err))).SendString(fault.FromError(err).Code)
	}})
	app.Get("/export", func(c *fiber.Ctx) error {
		return p.export(c, caller{Account: connect.Account{ID: id.ID{byte(c.QueryInt("account"))}}})
	})
	server := httptest.NewUnstartedServer(nil)
	go func() { _ = app.Listener(server.Listener) }()
	t.Cleanup(func() { require.NoError(t, app.Shutdown()) })
	return func(account byte) *http.Response {
		t.Helper()
		req, err := http.NewRequestWithContext(t.Context(), http.MethodGet,
			"http://"+server.Listener.Addr().String()+"/export?account="+strconv.Itoa(int(account)), nil)
		require.NoError(t, err)
		res, err := http.DefaultClient.Do(req)
		require.NoError(t, err)
		return res
	}
}

// requireRefused asks for an export, which must be refused.
func requireRefused(t *testing.T, begin func(byte) *http.Response, account byte, status int, code string) {
	t.Helper()
	res := begin(account)
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.NoError(t, res.Body.Close())
	require.Equal(t, []any{status, code, placeRetry.String()},
		[]any{res.StatusCode, string(body), res.Header.Get("Retry-After")})
}

// Browsers that read slowly keep nobody out: an account has five exports, and others have theirs.
func TestExport_BesideManySlowReaders_Begins(t *testing.T) {
	t.Parallel()
	begin := exporting(t, &breaking{pages: 1 << 40})
	var slow []*http.Response
	for account := range byte(12) {
		for range 5 {
			res := begin(account)
			require.Equal(t, http.StatusOK, res.StatusCode)
			slow = append(slow, res)
		}
		requireRefused(t, begin, account, http.StatusTooManyRequests, "one_at_a_time")
	}
	slow = append(slow, begin(99))
	require.Equal(t, http.StatusOK, slow[60].StatusCode)
	require.NoError(t, slow[0].Body.Close()) // its browser goes away
	require.Eventually(t, func() bool {
		res := begin(0)
		defer func() { _ = res.Body.Close() }()
		return res.StatusCode == http.StatusOK
	}, time.Minute, 20*time.Millisecond)
	for _, res := range slow[1:] {
		require.NoError(t, res.Body.Close())
	}
}

// hanging answers the queries of an account above 9 at once, and others when release is closed.
type hanging struct {
	depositports.DashboardReader
	asked   atomic.Int64
	release chan struct{}
}

func (h *hanging) DashboardDeposits(_ context.Context, f depositports.DashboardFilter,
	_ ports.Page) (ports.ListPage[*deposit.Deposit], error) {
	if f.AccountID[0] <= 9 {
		h.asked.Add(1)
		<-h.release
	}
	return ports.ListPage[*deposit.Deposit]{Items: []*deposit.Deposit{{Reference: "D-1234-5678"}}}, nil
}

// A query that takes long holds a place. The last place is for accounts that had none lately.
func TestExport_BesideQueriesThatHang_FindsThePlaceThatIsKept(t *testing.T) {
	t.Parallel()
	store := &hanging{release: make(chan struct{})}
	begin := exporting(t, store)
	read := func(account byte) int {
		res := begin(account)
		_, err := io.Copy(io.Discard, res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
		return res.StatusCode
	}
	require.Equal(t, http.StatusOK, read(10))
	hung := make(chan int, placesAtOnce)
	for account := range byte(placesAtOnce - 1) {
		go func() { hung <- read(account) }()
	}
	require.Eventually(t, func() bool { return store.asked.Load() == placesAtOnce-1 }, time.Minute, time.Millisecond)
	require.Equal(t, http.StatusOK, read(11), "who had none lately")
	require.Equal(t, http.StatusOK, read(12))
	requireRefused(t, begin, 10, http.StatusServiceUnavailable, "service_unavailable")

	again := make(chan int, 1)
	go func() { again <- read(11) }() // waits
	close(store.release)
	require.Equal(t, http.StatusOK, <-again)
	for range placesAtOnce - 1 {
		require.Equal(t, http.StatusOK, <-hung)
	}
}

func TestExport_ThatIsRead_HoldsNothingAtTheEnd(t *testing.T) {
	t.Parallel()
	begin := exporting(t, short{})
	for range 20 {
		res := begin(1)
		require.Equal(t, http.StatusOK, res.StatusCode)
		_, err := io.Copy(io.Discard, res.Body)
		require.NoError(t, err)
		require.NoError(t, res.Body.Close())
	}
}

// A file that is not whole must not look whole.
func TestExport_WhenAReadFails_EndsTheConnection(t *testing.T) {
	t.Parallel()
	store := &breaking{pages: 40}
	res := exporting(t, store)(1)
	body, err := io.ReadAll(res.Body)
	require.ErrorIs(t, err, io.ErrUnexpectedEOF)
	require.NoError(t, res.Body.Close())
	require.Greater(t, len(body), 1000)
	require.Equal(t, int64(41), store.read.Load())
}

func TestCell_LeavesOtherTextsAsTheyAre(t *testing.T) {
	t.Parallel()
	for _, text := range []string{"", "a-b", "B-1/2", "x=1", "a@b.example", "Dupont - Martin", "7,5", "a, b", "l’été"} {
		require.Equal(t, text, cell(text))
	}
}
