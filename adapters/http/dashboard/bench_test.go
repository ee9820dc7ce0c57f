package dashboard_test

import (
	"context"
	"flag"
	"io"
	"net/http"
	"runtime"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/lab/connecttest"
	"partnerdeposits/lab/servicetest"
	"partnerdeposits/lab/stock"
	depositports "partnerdeposits/ports/deposits"
	ports "partnerdeposits/ports/platform"
)

// The default fits a machine that does other work. The figures of the specification are those of 3,000,000 deposits,
// 100,000 of them in the account.
var benchDeposits = flag.Int("desk.deposits", 30_000, "deposits in the table, a thirtieth of them in the account")

// BenchmarkDesk tells the time of each page at the server, the time of the list's statements, and what an export costs.
func BenchmarkDesk(b *testing.B) {
	s := connecttest.New(b, connecttest.Options{})
	demo := s.Partner("demo")
	browser, account := linked(b, s, "a@b.example", "demo")
	owners, err := stock.Owners(b.Context(), s.Pool, 1, 29)
	require.NoError(b, err)
	owners = append(owners, stock.Owner{Partner: demo.ID, Account: account})
	began := time.Now()
	require.NoError(b, stock.Fill(b.Context(), s.Pool, owners, stock.Amount{Deposits: *benchDeposits}))
	_, err = s.Pool.Exec(b.Context(), `VACUUM (ANALYZE) open_deposits`)
	require.NoError(b, err)
	b.Logf("%d deposits, %d in the account, filled in %s", *benchDeposits, s.Count("deposits", "account_id = $1", account),
		time.Since(began).Round(time.Second))
	var reference, booking string
	require.NoError(b,
		s.Pool.QueryRow(b.Context(),
			`SELECT reference, rental_contract FROM deposits WHERE account_id = $1 AND rental_contract <> ''
				ORDER BY created_at OFFSET 100 LIMIT 1`,
			account).
			Scan(&reference, &booking))
	half := time.Now().AddDate(0, -6, 0).Format(time.DateOnly)
	for _, page := range []string{
		"", "/deposits", "/deposits?status=pending,incomplete", "/deposits?status=payment_issue", "/deposits?status=active",
		"/deposits?status=captured", "/deposits?status=close",
		"/deposits?q=" + reference, "/deposits?q=" + booking[:7], "/deposits?q=bk-", "/deposits?q=ada",
		"/deposits?q=tenant+1", "/deposits?q=nobody",
		"/deposits?from=" + half + "&to=" + half, "/deposits?to=" + half, "/deposits?from=" + half + "&status=payment_issue",
		"/deposits?from=2001-01-01&to=2001-01-02", "/deposits?from=2050-01-01",
		"/deposits?ends_by=" + time.Now().AddDate(0, 0, 7).Format(time.DateOnly), "/deposits?ends_by=2050-01-01",
		"/deposits?ends_by=2020-01-01", "/settings",
		"/deposits/" + firstDeposit(b, s, account), "/deposits/new", "/partner",
	} {
		b.Run("GET "+page, func(b *testing.B) {
			var size int
			times := timed(b, func() { size = len(browser.Get("/dashboard" + page).Body) })
			report(b, times)
			b.ReportMetric(float64(size), "bytes")
		})
	}
	for name, f := range map[string]depositports.DeskFilter{
		"all": {}, "open": {Statuses: []deposit.Status{deposit.PaymentIssue}},
		"closed":    {Statuses: []deposit.Status{deposit.Closed}},
		"reference": {Text: reference}, "many bookings": {Text: "bk-"}, "few bookings": {Text: booking[:7]},
		"many names": {Text: "ada"},
	} {
		f.AccountID = account
		b.Run("list "+name, func(b *testing.B) {
			report(b, timed(b, func() {
				_, err := s.Postgres.Desk.DeskDeposits(b.Context(), f, ports.Page{Limit: 50})
				require.NoError(b, err)
			}))
		})
	}
	b.Run("export", func(b *testing.B) { benchExport(b, s, browser) })
	from := deposit.Origin{AccountID: account, PartnerID: demo.ID, ByPartnerAPI: true, ExternalID: "x"}
	b.Run("POSTs", func(b *testing.B) { benchPosts(b, s, from) })
	for _, drop := range []string{`DROP TRIGGER deposits_open ON deposits`, `DROP INDEX deposits_of_stay`,
		`DROP INDEX deposits_of_booking`} {
		_, err := s.Pool.Exec(b.Context(), drop)
		require.NoError(b, err)
		b.Run("POSTs, after "+drop, func(b *testing.B) { benchPosts(b, s, from) })
	}
}

// benchPosts makes deposits, 16 at once, as the partner API does.
func benchPosts(b *testing.B, s *connecttest.Server, from deposit.Origin) {
	const posts, atOnce = 6_000, 16
	var wg sync.WaitGroup
	var failed atomic.Int64
	began := time.Now()
	for range atOnce {
		wg.Go(func() {
			for range posts / atOnce {
				now := time.Now()
				depositID := servicetest.NewID()
				draft := deposit.Draft{Amount: 50_000, ContractStartAt: now, ContractEndAt: now,
					RentalContract: "BK-" + depositID.Encode()[16:]}
				d := deposit.New(depositID, "D-"+depositID.Encode(), from, draft, nil, now)
				err := s.Changes.Apply(b.Context(), ports.Change{Needs: ports.Needs{Link: ports.AccountLink{
					PartnerID: from.PartnerID, AccountID: from.AccountID}}, Decide: func(ports.Found) (ports.Writes, error) {
					return ports.Writes{Insert: &ports.NewDeposit{Deposit: d, CheckoutToken: secret.Text(depositID.Encode())}}, nil
				}})
				if err != nil {
					failed.Add(1)
				}
			}
		})
	}
	wg.Wait()
	require.Zero(b, failed.Load())
	b.ReportMetric(posts/time.Since(began).Seconds(), "deposits/s")
}

// timed runs do b.N times, and 200 times at least.
func timed(b *testing.B, do func()) (times []time.Duration) {
	b.Helper()
	for range max(b.N, 200) {
		began := time.Now()
		do()
		times = append(times, time.Since(began))
	}
	slices.Sort(times)
	return times
}

func report(b *testing.B, times []time.Duration) {
	b.Helper()
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
}

func firstDeposit(b *testing.B, s *connecttest.Server, account id.ID) string {
	b.Helper()
	found, err := s.Postgres.Desk.DeskDeposits(b.Context(),
		depositports.DeskFilter{AccountID: account, Statuses: []deposit.Status{deposit.Active}}, ports.Page{Limit: 1})
	require.NoError(b, err)
	return id.Deposit.Of(found.Items[0].ID)
}

// benchExport reads an export to its end, and tells the largest heap meanwhile.
func benchExport(b *testing.B, s *connecttest.Server, browser *connecttest.Browser) {
	runtime.GC()
	ctx, stop := context.WithCancel(b.Context())
	most := make(chan uint64)
	go func() {
		var largest uint64
		for ctx.Err() == nil {
			var m runtime.MemStats
			runtime.ReadMemStats(&m)
			largest = max(largest, m.HeapInuse)
			<-time.After(20 * time.Millisecond)
		}
		most <- largest
	}()
	began := time.Now()
	req, err := http.NewRequestWithContext(b.Context(), http.MethodGet, s.URL+"/dashboard/deposits.csv", nil)
	require.NoError(b, err)
	body := browser.Stream(req)
	counted := &lineCounter{}
	_, err = io.Copy(counted, body)
	require.NoError(b, err)
	require.NoError(b, body.Close())
	stop()
	b.ReportMetric(time.Since(began).Seconds(), "s")
	b.ReportMetric(float64(counted.lines), "rows")
	b.ReportMetric(float64(<-most)/(1<<20), "heap-MB")
}

// lineCounter counts lines.
type lineCounter struct{ lines int }

func (c *lineCounter) Write(p []byte) (int, error) {
	c.lines += strings.Count(string(p), "\n")
	return len(p), nil
}
