package dashboard

import (
	"encoding/base64"
	"encoding/binary"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	depositports "partnerdeposits/ports/deposits"
	ports "partnerdeposits/ports/platform"
)

// Parameters of the list and of its export.
const (
	pageSize = 50
	maxText  = 200 // characters of a search text; a longer one finds nothing
)

// filterOf reads the parameters. A parameter that cannot be read is a mistake, which the reader is told.
func filterOf(c *fiber.Ctx, by caller, lang ui.Lang) listFilter {
	f := listFilter{
		status: c.Query(queryStatus), text: strings.TrimSpace(c.Query(queryText)), from: c.Query(queryFrom),
		to: c.Query(queryTo), endsBy: c.Query(queryEndsBy),
		DeskFilter: depositports.DeskFilter{AccountID: by.Account.ID},
	}
	mistake := func(field string, text ui.Text) {
		f.mistakes = append(f.mistakes, ui.Mistake{Field: field, Text: text.In(lang)})
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
	if f.EndsBefore, ok = instantOf(f.endsBy); !ok {
		mistake(queryEndsBy, textBadDate)
		f.endsBy = ""
	}
	if f.Stay.From, ok = day(f.from); !ok {
		mistake(queryFrom, textBadDate)
	}
	last, ok := day(f.to)
	if !ok {
		mistake(queryTo, textBadDate)
	}
	if !last.IsZero() {
		f.Stay.To = last.AddDate(0, 0, 1)
	}
	if !f.Stay.From.IsZero() && !last.IsZero() && last.Before(f.Stay.From) {
		mistake(queryTo, textBadPeriod)
	}
	return f
}

// instantOf reads the end of an ISO date in UTC, or a time of RFC 3339.
func instantOf(text string) (time.Time, bool) {
	if at, err := time.Parse(time.RFC3339, text); err == nil {
		return at.UTC(), at.Year() > 1
	}
	at, ok := day(text)
	if at.IsZero() {
		return at, ok
	}
	return at.AddDate(0, 0, 1), ok
}

func (p *pages) showList(c *fiber.Ctx, by caller) error {
	lang := ui.LangOf(c)
	f := filterOf(c, by, lang)
	cursor := decodeCursor(c.Query(queryCursor))
	v := listView{
		Page: p.page(c, by, ui.SectionDeposits, textDeposits.In(lang)), Filter: f, Fields: filterFields(f, lang),
		Statuses: statusOptions(f, lang),
		First:    cursor.IsZero(), Export: ui.WithQuery(pathExport, f.query("")),
	}
	if len(f.mistakes) > 0 {
		v.Page.ErrorCode = "invalid_filter"
		return ui.Render(c, http.StatusBadRequest, listPage(v))
	}
	found, err := p.Desk.List(c.UserContext(), f.DeskFilter, ports.Page{Limit: pageSize, Cursor: cursor})
	if err != nil {
		return err
	}
	for _, d := range found.Items {
		r := rowOf(d, lang)
		if f.endsBy != "" {
			r.Ends = textEnds.In(lang, ui.DateTime(lang, d.ExpiresAt))
		}
		v.Rows = append(v.Rows, r)
	}
	if !found.Next.IsZero() {
		v.Next = ui.WithQuery(pathDeposits, f.query(encodeCursor(found.Next)))
	}
	return ui.Render(c, http.StatusOK, listPage(v))
}

func filterFields(f listFilter, lang ui.Lang) []ui.Field {
	return []ui.Field{
		{Name: queryText, Type: "search", Label: textSearch.In(lang), Hint: textSearchHint.In(lang), Value: f.text,
			MaxLength: maxText, Error: mistakeOf(f.mistakes, queryText)},
		{Name: queryFrom, Type: "date", Label: textStayFrom.In(lang), Value: f.from, Error: mistakeOf(f.mistakes, queryFrom)},
		{Name: queryTo, Type: "date", Label: textStayTo.In(lang), Value: f.to, Error: mistakeOf(f.mistakes, queryTo)},
	}
}

func statusOptions(f listFilter, lang ui.Lang) []ui.Option {
	options := []ui.Option{
		{Value: "", Label: textEveryStatus.In(lang)},
		{Value: statusesOf(depositports.WorkAwaiting), Label: textAwaiting.In(lang)},
	}
	for _, s := range deposit.Statuses {
		options = append(options, ui.Option{Value: string(s), Label: statuses[s].In(lang)})
	}
	if len(f.mistakes) == 0 && !slices.ContainsFunc(options, func(o ui.Option) bool { return o.Value == f.status }) {
		// another list of statuses
		var names []string
		for _, s := range f.Statuses {
			names = append(names, statuses[s].In(lang))
		}
		options = append(options, ui.Option{Value: f.status, Label: strings.Join(names, ", ")})
	}
	return options
}

// encodeCursor encodes the sort key of the last deposit of a page: Unix microseconds and id.
func encodeCursor(c ports.Cursor) string {
	b := binary.BigEndian.AppendUint64(nil, uint64(c.At.UnixMicro()))
	return base64.RawURLEncoding.EncodeToString(append(b, c.ID[:]...))
}

// decodeCursor returns the zero cursor, which is the first page, for an invalid text.
func decodeCursor(text string) ports.Cursor {
	b, err := base64.RawURLEncoding.DecodeString(text)
	if err != nil || len(b) != 8+len(id.ID{}) {
		return ports.Cursor{}
	}
	at := time.UnixMicro(int64(binary.BigEndian.Uint64(b))).UTC()
	if at.Year() < 1 || at.Year() > 9999 { // Postgres has no such time
		return ports.Cursor{}
	}
	return ports.Cursor{At: at, ID: id.ID(b[8:])}
}

// statusesOf is the parameter status of the list that holds all deposits of a kind of work.
func statusesOf(kind depositports.Work) string {
	var names []string
	for _, s := range kind.Statuses() {
		names = append(names, string(s))
	}
	return strings.Join(names, ",")
}

// listFilter is what the reader asked for, as text and as a filter of the list.
type listFilter struct {
	status, text, from, to, endsBy string
	mistakes                       []ui.Mistake
	depositports.DeskFilter
}

// query is the filter as a query, with a cursor ("": the first page).
func (f listFilter) query(cursor string) string {
	values := url.Values{}
	for _, p := range [][2]string{{queryStatus, f.status}, {queryText, f.text}, {queryFrom, f.from}, {queryTo, f.to},
		{queryEndsBy, f.endsBy}, {queryCursor, cursor}} {
		if p[1] != "" {
			values.Set(p[0], p[1])
		}
	}
	return values.Encode()
}

func (f listFilter) set() bool { return f.status+f.text+f.from+f.to+f.endsBy != "" }

// listView is the data of the list.
type listView struct {
	Page     ui.Page
	Filter   listFilter
	Fields   []ui.Field
	Statuses []ui.Option
	Rows     []row
	Next     string // path of the next page; "" on the last page
	First    bool
	Export   string
}
