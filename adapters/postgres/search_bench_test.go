package postgres_test

import (
	"flag"
	"slices"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/stock"
	"partnerdeposits/lab/storetest"
	depositports "partnerdeposits/ports/deposits"
	ports "partnerdeposits/ports/platform"
)

// The default fits a machine that does other work. The figures of ADR 0036 are those of 3,000,000 deposits.
var searchDeposits = flag.Int("search.deposits", 30_000, "deposits of the account among which the benchmark searches")

// peopled gives the clients of stock names: one of 50 is García, one of 50 María, one of 5 begins with Ga, and few have
// the names that need folding. The others are made of syllables.
const peopled = `WITH people AS (
		SELECT id, n, abs(hashint8(n)) AS h,
			string_to_array('ba ce di fo gu ha ki lo me nu pa ra si to vu za', ' ') AS s
		FROM (SELECT id, row_number() OVER (ORDER BY id) AS n FROM clients) AS numbered)
	UPDATE clients c SET
		first_name = CASE h % 50 WHEN 1 THEN 'María' ELSE initcap(s[1 + h % 16] || s[1 + h / 16 % 16]) END,
		last_name = CASE n % 5000
			WHEN 7 THEN 'von Hohenzollern-Sigmaringen' WHEN 17 THEN 'Щербаков' WHEN 27 THEN 'İpekçi' WHEN 37 THEN 'Weiß'
			WHEN 47 THEN 'O’Connor' WHEN 57 THEN U&'Lo\0301pez'
			ELSE CASE WHEN n % 50 = 0 THEN 'García' WHEN n % 300 = 1 THEN 'Nowak' ELSE
				CASE n % 5 WHEN 2 THEN 'Ga' ELSE initcap(s[1 + h / 256 % 16]) END || s[1 + h / 4096 % 16] ||
				s[1 + h / 65536 % 16] END END
	FROM people p WHERE p.id = c.id`

// BenchmarkSearch tells how long the statements of a page take that a search text narrows.
func BenchmarkSearch(b *testing.B) {
	url := pgtest.URL(b)
	admin := storetest.Pool(b, url, postgres.PoolOptions{StatementTimeout: time.Hour})
	owners, err := stock.Owners(b.Context(), admin, 1, 1)
	require.NoError(b, err)
	require.NoError(b, stock.Fill(b.Context(), admin, owners, stock.Amount{Deposits: *searchDeposits}))
	exec(b, admin, peopled)
	exec(b, admin, `VACUUM (ANALYZE) clients, client_names`)
	store := storetest.Over(b, storetest.Pool(b, url, postgres.PoolOptions{}), postgres.Options{})
	var reference, booking string
	require.NoError(b, admin.QueryRow(b.Context(), `SELECT reference, rental_contract FROM deposits
		WHERE rental_contract ~ '[^0-9][0-9]{3}$' LIMIT 1`).Scan(&reference, &booking))
	for _, search := range []struct{ name, text string }{
		{"rare", "hohenzollern"}, {"rare, Cyrillic", "ЩЕРБАКОВ"}, {"rare, İ", "ipekci"}, {"rare, ß", "WEISS"},
		{"rare, apostrophe", "o'connor"}, {"rare, mark", "lopez"}, {"some", "nowak"}, {"frequent", "garcia"},
		{"two letters", "ga"}, {"nobody", "xyzzy"}, {"nobody, with a frequent word", "ga xyzzy"},
		{"frequent and frequent", "maria garcia"}, {"frequent and rare", "maria hohenzollern"},
		{"two letters and rare", "ga o'con"},
		{"two letters and few", "ga nunu"}, {"two letters twice", "ga ma"}, {"nobody, of frequent words", "garcia ga nowak"},
		{"many words", "a b c d e f g h i j k l m n o p q r s t u v w x y z"},
		{"reference", reference}, {"half a reference", reference[2:6]}, {"three letters of a reference", reference[:5]},
		{"bookings", "BK-"}, {"booking", booking}, {"digits", booking[len(booking)-3:]}, {"e-mails", "tenant-"},
		{"e-mail", "tenant-1000@"},
	} {
		f := depositports.DeskFilter{AccountID: owners[0].Account, Text: search.text}
		b.Run(search.name, func(b *testing.B) { benchPages(b, store, f, ports.Page{Limit: 50}) })
	}
	for _, text := range []string{"nowak", "garcia"} {
		f := depositports.DeskFilter{AccountID: owners[0].Account, Text: text, Statuses: []deposit.Status{deposit.Captured}}
		b.Run(text+", captured", func(b *testing.B) { benchPages(b, store, f, ports.Page{Limit: 50}) })
	}
}

// benchPages reads the first page of a list and the pages that follow, up to ten, and tells the time of a page.
func benchPages(b *testing.B, store *postgres.Store, f depositports.DeskFilter, first ports.Page) {
	b.Helper()
	var times []time.Duration
	page, pages, found := first, 0, map[id.ID]bool{}
	for range max(b.N, 200) {
		began := time.Now()
		list, err := store.Desk.DeskDeposits(b.Context(), f, page)
		times = append(times, time.Since(began))
		require.NoError(b, err)
		for _, d := range list.Items {
			found[d.ID] = true
		}
		pages++
		if page.Cursor = list.Next; pages%10 == 0 || list.Next.IsZero() {
			page = first
		}
	}
	slices.Sort(times)
	b.ReportMetric(float64(times[len(times)/2].Microseconds())/1000, "p50-ms")
	b.ReportMetric(float64(times[len(times)*99/100].Microseconds())/1000, "p99-ms")
	b.ReportMetric(float64(len(found)), "deposits")
	b.ReportMetric(0, "ns/op")
}
