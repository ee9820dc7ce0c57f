package dashboard

import (
	"cmp"
	"encoding/base64"
	"encoding/binary"
	"maps"
	"net/http"
	"net/url"
	"slices"
	"strconv"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/deposits/desk"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/zone"
	depositports "partnerdeposits/ports/deposits"
	ports "partnerdeposits/ports/platform"
)

// Page size of the list of deposits, and its longest search text.
const (
	pageSize = 50
	maxText  = 200 // Longest search text in characters; a longer one is a mistake.
)

// filterOf parses the query parameters of the list of deposits; invalid ones become mistakes on the page.
func filterOf(c *fiber.Ctx, by caller, lang ui.Lang) listFilter {
	f := listFilter{
		status: c.Query(queryStatus), text: strings.TrimSpace(c.Query(queryText)), from: c.Query(queryFrom),
		to: c.Query(queryTo), endsBy: c.Query(queryEndsBy),
		DashboardFilter: depositports.DashboardFilter{View: depositports.ListView(c.Query(queryView)),
			Sort: depositports.SortOrder(c.Query(querySort))},
	}
	in := by.Account.Zone()
	mistake := func(field string, text ui.LocalizedText) {
		f.mistakes = append(f.mistakes, ui.Mistake{Field: field, Text: text.In(lang)})
	}
	if f.View != "" && !slices.Contains(depositports.ListViews, f.View) {
		mistake(queryView, textBadView)
		f.View = ""
	}
	if f.Sort != "" && !slices.Contains(sorts, f.Sort) {
		mistake(querySort, textBadSort)
		f.Sort = ""
	}
	for name := range strings.SplitSeq(f.status, ",") {
		if name == "" {
			continue
		}
		if !deposit.Status(name).Known() {
			mistake(queryStatus, textBadStatus)
			break
		}
		if !slices.Contains(f.Statuses, deposit.Status(name)) {
			f.Statuses = append(f.Statuses, deposit.Status(name))
		}
	}
	if f.Text = f.text; !utf8.ValidString(f.text) || strings.Contains(f.text, "\x00") ||
		utf8.RuneCountInString(f.text) > maxText {
		mistake(queryText, textBadText)
		f.text, f.Text = strings.ToValidUTF8(f.text, ""), ""
	}
	var ok bool
	if f.EndsBefore, ok = instantOf(f.endsBy, in); !ok {
		mistake(queryEndsBy, textBadDate)
		f.endsBy = ""
	}
	if f.Stay.From, ok = day(f.from, in); !ok {
		mistake(queryFrom, textBadDate)
	}
	last, ok := day(f.to, in)
	if !ok {
		mistake(queryTo, textBadDate)
	}
	if !last.IsZero() {
		f.Stay.To = zone.NextDay(last)
	}
	if !f.Stay.From.IsZero() && !last.IsZero() && last.Before(f.Stay.From) {
		mistake(queryTo, textBadPeriod)
	}
	return f
}

// instantOf parses the query parameter ends_by: an RFC 3339 time, or a date, which means the end of that day. It
// returns false for an invalid text.
func instantOf(text string, in *time.Location) (time.Time, bool) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at.In(in), at.Year() > 1
	}
	at, ok := day(text, in)
	if at.IsZero() {
		return at, ok
	}
	return zone.NextDay(at), ok
}

func (p *pages) showList(c *fiber.Ctx, by caller) error {
	lang := ui.LangOf(c)
	f := filterOf(c, by, lang)
	counts, err := p.Desk.CountByView(c.UserContext(), by.Account.ID)
	if err != nil {
		return err
	}
	at := ports.Page{Limit: pageSize, Cursor: decodeCursor(c.Query(queryCursor))}
	if before := decodeCursor(c.Query(queryBefore)); !before.IsZero() {
		at.Cursor, at.Back = before, true
	}
	v := listView{
		Page: p.page(c, by, ui.SectionDeposits, textDeposits.In(lang)), Filter: f, Fields: filterFields(f, lang),
		Statuses: statusOptions(f, lang), Views: viewsOf(f, counts, lang), Sorts: sortsOf(f, lang),
		First: at.Cursor.IsZero(), Export: ui.PathWithQuery(pathExport, f.query()), Form: p.newForm(),
	}
	if len(f.mistakes) > 0 {
		v.Page.ErrorCode = "invalid_filter"
		return ui.Render(c, http.StatusBadRequest, listPage(v))
	}
	found, err := p.Desk.ListDeposits(c.UserContext(), by.Account, f.DashboardFilter, at)
	if err != nil {
		return err
	}
	for _, d := range found.Items {
		v.Rows = append(v.Rows, listRowOf(d, f, lang))
	}
	v.Previous, v.Next = pagesBeside(f, at, found)
	if n := len(v.Rows); n > 0 && v.First && !f.set() {
		v.Range = textRange.In(lang, "1", strconv.Itoa(n), viewCount(counts[cmp.Or(f.View, depositports.ViewAll)], lang))
	}
	return ui.Render(c, http.StatusOK, listPage(v))
}

// pagesBeside returns the paths of the previous and next page of the list; "" for none.
func pagesBeside(f listFilter, at ports.Page, found ports.ListPage[desk.DepositRow]) (previous, next string) {
	link := func(parameter string, c ports.Cursor) string {
		return ui.PathWithQuery(pathDeposits, f.query(parameter, encodeCursor(c)))
	}
	on, parameter := &next, queryCursor
	if at.Back {
		on, parameter = &previous, queryBefore
	}
	if !found.Next.IsZero() {
		*on = link(parameter, found.Next)
	}
	if n := len(found.Items); n > 0 && at.Back {
		next = link(queryCursor, f.CursorForDeposit(found.Items[n-1].Deposit))
	} else if n > 0 && !at.Cursor.IsZero() {
		previous = link(queryBefore, f.CursorForDeposit(found.Items[0].Deposit))
	}
	return previous, next
}

// sorts lists the orders of the list of deposits, the default first.
var sorts = []depositports.SortOrder{depositports.SortByCreation, depositports.SortByStay}

// viewsOf returns the links to the list's views. They keep search and period but drop the status, which is
// narrower than a view.
func viewsOf(f listFilter, counts map[depositports.ListView]depositports.DepositGroupCount,
	lang ui.Lang) (links []listLink) {
	for _, view := range depositports.ListViews {
		path := ui.PathWithQuery(pathDeposits, f.query(queryView, string(view), queryStatus, "", queryEndsBy, ""))
		links = append(links, listLink{viewNames[view].In(lang), viewCount(counts[view], lang), path,
			view == cmp.Or(f.View, depositports.ViewAll)})
	}
	return links
}

func viewCount(n depositports.DepositGroupCount, lang ui.Lang) string {
	if n.More {
		return ui.FormatNumber(lang, int64(n.Count)) + "+"
	}
	return ui.FormatNumber(lang, int64(n.Count))
}

func sortsOf(f listFilter, lang ui.Lang) (links []listLink) {
	for _, by := range sorts {
		name := textByCreated.In(lang)
		if by == depositports.SortByStay {
			name = textByStay.In(lang)
		}
		links = append(links, listLink{Name: name, Path: ui.PathWithQuery(pathDeposits, f.query(querySort, string(by))),
			Current: f.SortedByStay() == (by == depositports.SortByStay)})
	}
	return links
}

func listRowOf(d desk.DepositRow, f listFilter, lang ui.Lang) listRow {
	r := listRow{row: rowOf(d, lang)}
	r.Period = shortSpan(ui.FormatDate(lang, d.ContractStartAt), ui.FormatDate(lang, d.ContractEndAt))
	name := r.Tenant
	if name == "" {
		name, r.Tenant = r.Reference, textNoTenantYet.In(lang)
	}
	if d.Status.InCheckout() || d.Debt != nil && d.Debt.State == deposit.CollectionAwaitingTenant {
		r.ID, r.Tick = id.Deposit.Of(d.ID), textTickOf.In(lang, name)
	}
	if d.Status == deposit.Active {
		r.Claim = claimPath(d.ID)
	}
	if f.View == depositports.ViewCoverEnding || f.endsBy != "" {
		r.State = ui.Chip{Text: textEndsOnDay.In(lang, ui.FormatDate(lang, d.ExpiresAt)), Tone: "warn", Icon: "i-end"}
	}
	return r
}

func filterFields(f listFilter, lang ui.Lang) []ui.Field {
	return []ui.Field{
		{Name: queryText, Type: "search", Label: textSearch.In(lang), Hint: textSearchHint.In(lang),
			Placeholder: textSearchFor.In(lang), Value: f.text, MaxLength: maxText, Error: mistakeOf(f.mistakes, queryText)},
		{Name: queryFrom, Type: "date", Label: textStayFrom.In(lang), Value: f.from, Error: mistakeOf(f.mistakes, queryFrom)},
		{Name: queryTo, Type: "date", Label: textStayTo.In(lang), Value: f.to, Error: mistakeOf(f.mistakes, queryTo)},
	}
}

func statusOptions(f listFilter, lang ui.Lang) []ui.Option {
	options := []ui.Option{
		{Value: "", Label: textEveryStatus.In(lang)},
		{Value: statusesOf(depositports.OverviewAwaitingTenant), Label: textAwaiting.In(lang)},
	}
	for _, s := range deposit.Statuses {
		options = append(options, ui.Option{Value: string(s), Label: statuses[s].In(lang)})
	}
	if len(f.mistakes) == 0 && !slices.ContainsFunc(options, func(o ui.Option) bool { return o.Value == f.status }) {
		// Add a combination of statuses that the menu does not offer.
		var names []string
		for _, s := range f.Statuses {
			names = append(names, statuses[s].In(lang))
		}
		options = append(options, ui.Option{Value: f.status, Label: strings.Join(names, ", ")})
	}
	return options
}

// encodeCursor encodes a position in the list of deposits: Unix microseconds and id.
func encodeCursor(c ports.Cursor) string {
	b := binary.BigEndian.AppendUint64(nil, uint64(c.At.UnixMicro()))
	return base64.RawURLEncoding.EncodeToString(append(b, c.ID[:]...))
}

// decodeCursor decodes a cursor of the list; an invalid one becomes the zero cursor, the first page.
func decodeCursor(text string) ports.Cursor {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) != 8+len(id.ID{}) {
		return ports.Cursor{}
	}
	at := time.UnixMicro(int64(binary.BigEndian.Uint64(b))).UTC()
	// Postgres cannot store such a year, so the cursor is invalid.
	if at.Year() < 1 || at.Year() > 9999 {
		return ports.Cursor{}
	}
	return ports.Cursor{At: at, ID: id.ID(b[8:])}
}

// statusesOf returns the query parameter status that lists all deposits with a kind of open work, such as awaiting
// the tenant.
func statusesOf(kind depositports.OverviewGroup) string {
	var names []string
	for _, s := range kind.Statuses() {
		names = append(names, string(s))
	}
	return strings.Join(names, ",")
}

// listFilter is the filter of the list of deposits, as typed and parsed.
type listFilter struct {
	status, text, from, to, endsBy string
	mistakes                       []ui.Mistake
	depositports.DashboardFilter
}

// query returns the list's filter as a query string, with changes as pairs of parameter and value. It selects the
// first page unless a change is a cursor.
func (f listFilter) query(changes ...string) string {
	values := url.Values{queryStatus: {f.status}, queryText: {f.text}, queryFrom: {f.from}, queryTo: {f.to},
		queryEndsBy: {f.endsBy}, queryView: {string(f.View)}, querySort: {string(f.Sort)}}
	for i := 0; i < len(changes); i += 2 {
		values.Set(changes[i], changes[i+1])
	}
	maps.DeleteFunc(values, func(_ string, v []string) bool { return v[0] == "" })
	return values.Encode()
}

// set reports whether a search text or filter narrows the list of deposits; a view does not count.
func (f listFilter) set() bool { return f.status+f.text+f.from+f.to+f.endsBy != "" }

// more reports whether a filter field besides the search is set, so that all are unfolded.
func (f listFilter) more() bool {
	return f.status+f.from+f.to != ""
}

type listView struct {
	Page           ui.Page
	Filter         listFilter
	Fields         []ui.Field
	Statuses       []ui.Option
	Views, Sorts   []listLink
	Rows           []listRow
	Previous, Next string // Paths of the previous and next page of the list; "" for none.
	First          bool
	// Text on which deposits of how many the page shows; "" if the number is unknown.
	Range  string
	Export string
	// Random key that makes repeated requests with the ticked deposits happen once.
	Form string
}

func (v listView) ticks() bool {
	return slices.ContainsFunc(v.Rows, func(r listRow) bool { return r.ID != "" })
}

type listLink struct {
	Name, Count, Path string
	Current           bool
}

// listRow is a deposit in the list of deposits.
type listRow struct {
	row
	// Value and label of the row's checkbox; "" if no mail can be sent.
	ID, Tick string
	Claim    string // Path of the page to claim an amount; "" if none can be claimed.
}
