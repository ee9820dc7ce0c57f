package postgres_test

import (
	"context"
	"flag"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/tenant"
	"partnerdeposits/lab/pgtest"
	"partnerdeposits/lab/portstest"
	"partnerdeposits/lab/stock"
	"partnerdeposits/lab/storetest"
	depositports "partnerdeposits/ports/deposits"
	ports "partnerdeposits/ports/platform"
)

// sought is a deposit for searches.
type sought struct{ reference, booking, first, last, email string }

// searchable is a store with a deposit for each of all, in its order, and their clients by first name.
func searchable(t *testing.T, all ...sought) (*postgres.Store, deposit.Origin, map[string]tenant.Client) {
	t.Helper()
	store, _ := storetest.New(t, postgres.Options{})
	from, now := storetest.CreateDepositOrigin(t, store), time.Now().UTC().Truncate(time.Microsecond)
	clients := map[string]tenant.Client{}
	for i, a := range all {
		c := tenant.Client{ID: portstest.NewID(), AccountID: from.AccountID, PartnerID: from.PartnerID, CreatedAt: now,
			Person: tenant.Person{Email: a.email, FirstName: a.first, LastName: a.last}}
		clients[a.first] = c
		depositID := portstest.NewID()
		d := deposit.New(depositID, a.reference, from, deposit.Draft{Amount: 50_000, ContractStartAt: now, ContractEndAt: now,
			RentalContract: a.booking}, nil, now.Add(time.Duration(-i)*time.Minute))
		d.ClientID = c.ID
		storetest.RunInTransaction(t, store, func(ctx context.Context, r *postgres.Store) error {
			require.NoError(t, r.Clients.Insert(ctx, c))
			return r.Deposits.Insert(ctx, d, secret.Text(depositID.Encode()))
		})
	}
	return store, from, clients
}

// references gives the references of the deposits that a text finds, newest first, page by page.
func references(t *testing.T, store *postgres.Store, f depositports.DashboardFilter) (found []string) {
	t.Helper()
	for page := (ports.Page{Limit: 2}); ; {
		list, err := store.Desk.DashboardDeposits(t.Context(), f, page)
		require.NoError(t, err)
		for _, d := range list.Items {
			found = append(found, d.Reference)
		}
		if page.Cursor = list.Next; list.Next.IsZero() {
			return found
		}
	}
}

func TestSearch_FindsWhatPeopleType(t *testing.T) {
	t.Parallel()
	const garcia, oconnor, zollern, strauss, russian, decomposed, sign, ligature = "D-2222-AAAA", "D-VFKB-2E9H",
		"D-DVFK-3333", "D-3333-BBBB", "D-4444-CCCC", "D-5555-DDDD", "D-6666-EEEE", "D-7777-FFFF"
	store, from, _ := searchable(t,
		sought{garcia, "BK-4120", "Ana María", "García López", "ana@mail.example"},
		sought{oconnor, "Haus 4120/7", "Sean", "O’Connor", "sean_o@mail.example"},
		sought{zollern, "4120-X", "İlse", "von Hohenzollern-Sigmaringen", "ilse@mail.example"},
		sought{strauss, "bk_41", "Jörg", "STRAUẞ", "Garçon@mail.example"},
		sought{russian, "HÔTEL-0041", "Семён", "ЩЕРБАКОВ", "s@mail.example"},
		sought{decomposed, "", "Zoe\u0308", "N\u0303un\u0303ez", "z@mail.example"},
		sought{sign, "100%", "Łukasz", "Ødegård & Co.", "l@mail.example"},
		sought{ligature, "x", strings.Repeat("ﷺ", 100), strings.Repeat("ﷺ ", 50), "x@mail.example"})
	for text, want := range map[string][]string{
		// names: each word, folded, in any order
		"Lopez": {garcia}, "López": {garcia}, "Garcia": {garcia}, "GARCÍA": {garcia}, "lopez gar": {garcia},
		"gar lopez ana": {garcia}, "maria": {garcia}, "Ana María García": {garcia}, "garcia lopez ana": {garcia},
		"lo\u0301pez": {garcia}, "  garcia   lopez ": {garcia}, "garcia-lopez": {garcia}, "lopez, ana": {garcia},
		"lopez garcia lop g": {garcia}, "arcia": nil, "lopez sean": nil, "lopez x": nil,
		"O'Connor": {oconnor}, "O’Connor": {oconnor}, "oʼconnor": {oconnor}, "o`con": {oconnor}, "OCONNOR": {oconnor},
		"connor": {oconnor}, "o´connor sean": {oconnor}, "o'": {oconnor, sign}, "o connor": {oconnor},
		"Hohenzollern": {zollern}, "sigma": {zollern}, "von hohen": {zollern}, "Hohenzollern-S": {zollern},
		"ilse": {zollern}, "İLSE": {zollern}, "Ilse": {zollern}, "ılse": {zollern},
		"strauss": {strauss}, "Strauß": {strauss}, "STRAUSS": {strauss}, "straus": {strauss}, "jorg": {strauss},
		"щербаков": {russian}, "ЩЕРБ": {russian}, "семен": {russian}, "СЕМЁН": {russian},
		"Семе\u0308н": {russian},
		"zoe":         {decomposed}, "Zoë": {decomposed}, "nunez": {decomposed}, "ñuñez": {decomposed},
		"lukasz": {sign}, "odegard": {sign}, "ødegård co": {sign}, "صلى": {ligature},
		// references, from the third letter behind the D
		"D-VFKB-2E9H": {oconnor}, "d-vfkb": {oconnor}, "vfkb2e9h": {oconnor}, "VFKB": {oconnor}, "vfkb-2e": {oconnor},
		"d vfkb 2e9h": {oconnor}, "vfk": {oconnor}, "dvfk": {oconnor, zollern}, "d-dvf": {zollern}, "d-v": nil, "vf": nil,
		"2e9h": nil, "vfkb2e9hx": nil,
		// bookings: their beginning in any case, and the digits at the end
		"bk-4120": {garcia}, "BK-": {garcia}, "4120": {garcia, zollern}, "412": {garcia, zollern}, "4120-x": {zollern},
		"120": nil, "7": {oconnor}, "haus 4120/": {oconnor}, "41": {garcia, zollern, strauss}, "0041": {russian},
		"hôtel": {russian}, "hotel": nil,
		// e-mail addresses: their beginning in any case
		"ana@mail": {garcia}, "SEAN_O@": {oconnor}, "garçon": {strauss}, "mail.example": nil,
		// no sign is a pattern
		"%": nil, "_": nil, `\`: nil, "bk_": {strauss}, "100%": {sign}, "lop_z": nil, "l%pez": nil, "sean_": {oconnor},
		"&": nil, "-": nil, "'": nil, "...": nil, "\x01": nil, "lopez\x01": {garcia}, "garcia\t\nlopez": {garcia}, "😀": nil,
		strings.Repeat("garcia ", 28): {garcia}, strings.Repeat("a", 200): nil, strings.Repeat("ﷺ", 200): {ligature},
		"a b c d e f g h i j k l m n o p q r s t u v w x y z": nil, "\u0301": nil, "\u200b": nil,
	} {
		f := depositports.DashboardFilter{AccountID: from.AccountID, Text: text}
		require.Equal(t, want, references(t, store, f), "%q", text)
		f.Statuses = deposit.Statuses
		require.Equal(t, want, references(t, store, f), "%q, with a status", text)
		f.AccountID = portstest.NewID()
		require.Empty(t, references(t, store, f), "%q, of another account", text)
	}
}

func TestSearch_AfterAChangeOfTheNameAndAnErasure_FollowsTheClient(t *testing.T) {
	t.Parallel()
	store, from, clients := searchable(t, sought{"D-2222-AAAA", "", "Ana", "García", "a@mail.example"},
		sought{"D-3333-BBBB", "", "Bea", "García", "b@mail.example"})
	find := func(text string) []string {
		return references(t, store, depositports.DashboardFilter{AccountID: from.AccountID, Text: text})
	}
	require.Equal(t, []string{"D-2222-AAAA", "D-3333-BBBB"}, find("garcia"))
	c := clients["Ana"]
	c.LastName, c.ChangedAt = "Müller", time.Now()
	storetest.RunInTransaction(t, store, func(ctx context.Context,
		r *postgres.Store) error {
		return r.Clients.Update(ctx, c)
	})
	require.Equal(t, []string{"D-3333-BBBB"}, find("garcia"))
	require.Equal(t, []string{"D-2222-AAAA"}, find("muller ana"))
	storetest.RunInTransaction(t, store, func(ctx context.Context, r *postgres.Store) error {
		return r.Clients.Erase(ctx, c, time.Now())
	})
	require.Empty(t, find("muller"))
	require.Empty(t, find("ana"))
	require.Equal(t, []string{"D-3333-BBBB"}, find("bea"))
}

// A frequent text has the list read in its order, and each deposit compared.
func TestSearch_OfAFrequentText_ListsEachDepositOnceInOrder(t *testing.T) {
	t.Parallel()
	s := newDeskStore(t, 12_000)
	owner := s.Owner.Account
	exec(t, s.pool, `UPDATE clients SET first_name = 'María', last_name = 'García ' || last_name WHERE account_id = $1`, owner)
	exec(t, s.pool, `WITH one AS (SELECT id FROM clients WHERE account_id = $1 ORDER BY id LIMIT 1),
			rest AS (SELECT id FROM deposits WHERE account_id = $1 ORDER BY id OFFSET 700)
		UPDATE deposits d SET client_id = one.id FROM one, rest WHERE d.id = rest.id`, owner)
	// words that begin like the searched ones, of clients without deposits
	exec(t, s.pool, `INSERT INTO client_names SELECT $1, 'garb' || n || ' mar', gen_random_uuid() FROM generate_series(1, 45000) n`,
		owner)
	for _, f := range []depositports.DashboardFilter{
		{Text: "maria"}, {Text: "gar mar tenant", Statuses: []deposit.Status{deposit.Captured}}, {Text: "BK-"},
		{Text: "maria", Stay: ports.TimeSpan{From: time.Now().AddDate(0, -3, 0)}},
	} {
		f.AccountID = owner
		conditions := map[bool]string{true: "c.first_name = 'María'", false: "starts_with(d.rental_contract, 'BK-')"}
		order := "d.created_at"
		sql := `SELECT d.reference FROM deposits d LEFT JOIN clients c ON c.id = d.client_id WHERE d.account_id = '` +
			owner.String() + `' AND ` + conditions[f.Text != "BK-"]
		if f.Statuses != nil {
			sql += ` AND d.status = 'captured'`
		}
		if !f.Stay.From.IsZero() {
			order = "d.contract_start_at"
			sql += ` AND d.contract_end_at >= '` + f.Stay.From.Format(time.RFC3339Nano) + `'`
		}
		want := texts(t, s, sql+` ORDER BY `+order+` DESC, d.id DESC`)
		var got []string
		page := ports.Page{Limit: 100}
		for pages := 0; pages == 0 || !page.Cursor.IsZero() && pages < 25; pages++ {
			list, err := s.Desk.DashboardDeposits(t.Context(), f, page)
			require.NoError(t, err)
			for _, d := range list.Items {
				got = append(got, d.Reference)
			}
			page.Cursor = list.Next
		}
		require.NotEmpty(t, got)
		if page.Cursor.IsZero() {
			require.Len(t, got, len(want), "%+v", f)
		}
		require.True(t, slices.Equal(want[:len(got)], got), "%+v", f)
	}
}

// The default fits a machine that does other work. The figures of ADR 0012 are those of 3,000,000 deposits.
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
	url := pgtest.NewDatabaseURL(b)
	admin := storetest.NewPool(b, url, postgres.PoolOptions{StatementTimeout: time.Hour})
	owners, err := stock.CreateRowOwners(b.Context(), admin, 1, 1)
	require.NoError(b, err)
	require.NoError(b, stock.FillDatabase(b.Context(), admin, owners, stock.RowCounts{Deposits: *searchDeposits}))
	exec(b, admin, peopled)
	exec(b, admin, `VACUUM (ANALYZE) clients, client_names`)
	store := storetest.NewStoreOverPool(b, storetest.NewPool(b, url, postgres.PoolOptions{}), postgres.Options{})
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
		f := depositports.DashboardFilter{AccountID: owners[0].Account, Text: search.text}
		b.Run(search.name, func(b *testing.B) { benchPages(b, store, f, ports.Page{Limit: 50}) })
	}
	for _, text := range []string{"nowak", "garcia"} {
		f := depositports.DashboardFilter{AccountID: owners[0].Account, Text: text,
			Statuses: []deposit.Status{deposit.Captured}}
		b.Run(text+", captured", func(b *testing.B) { benchPages(b, store, f, ports.Page{Limit: 50}) })
	}
}

// benchPages reads the first page of a list and the pages that follow, up to ten, and tells the time of a page.
func benchPages(b *testing.B, store *postgres.Store, f depositports.DashboardFilter, first ports.Page) {
	b.Helper()
	var times []time.Duration
	page, pages, found := first, 0, map[id.ID]bool{}
	for range max(b.N, 200) {
		began := time.Now()
		list, err := store.Desk.DashboardDeposits(b.Context(), f, page)
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
