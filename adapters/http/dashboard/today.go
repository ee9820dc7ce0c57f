package dashboard

import (
	"net/http"
	"net/url"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/accounts/connections"
	"partnerdeposits/app/deposits/desk"
	depositports "partnerdeposits/ports/deposits"
)

// shownWork are the kinds of work, the most urgent first.
var shownWork = []depositports.Work{depositports.WorkRefused, depositports.WorkEnding, depositports.WorkCollecting,
	depositports.WorkAwaiting}

func (p *pages) showToday(c *fiber.Ctx, by caller) error {
	lang := ui.LangOf(c)
	account, err := p.Connections.Account(c.UserContext(), by.Account.ID)
	if err != nil {
		return err
	}
	t, err := p.Desk.Today(c.UserContext(), by.Account.ID)
	if err != nil {
		return err
	}
	v := todayView{Page: p.page(c, by, ui.SectionToday, textToday.In(lang)), Account: account,
		Chart: chartOf(t.Year, lang)}
	if p.Operators.Unverified(by.Operator) {
		ask := p.verifyView(c, by, textVerifyAskLead.In(lang, by.Operator.Email))
		v.Verify = &ask
	}
	earlier, err := p.Desk.Earlier(c.UserContext(), by.Operator, by.Account, account.Link)
	if err != nil {
		return err
	}
	if earlier != nil {
		v.Earlier = earlierViewOf(earlier, account, lang)
	}
	for _, kind := range shownWork {
		if t.Counts[kind].Count > 0 {
			v.Work = append(v.Work, workViewOf(kind, t, lang))
		}
	}
	active := t.Counts[depositports.WorkActive]
	v.Figures = []fact{
		{textFigureActive.In(lang), counted(active), textFigureAmount.In(lang, ui.Euros(lang, active.Amount))},
		{textFigureAwaiting.In(lang), counted(t.Counts[depositports.WorkAwaiting]),
			textFigureAmount.In(lang, ui.Euros(lang, t.Counts[depositports.WorkAwaiting].Amount))},
		{textFigureMonth.In(lang), strconv.Itoa(t.Year[len(t.Year)-1].Made), ""},
		{textMaximum.In(lang), ui.Euros(lang, account.MaxAmount()), ""},
	}
	return ui.Render(c, http.StatusOK, todayPage(v))
}

func earlierViewOf(e *desk.Earlier, account connections.AccountView, lang ui.Lang) *earlierView {
	v := &earlierView{Lead: textEarlierLead.In(lang, ui.DateTime(lang, e.Until)), Count: strconv.Itoa(e.Count)}
	if e.Link != nil {
		v.Partner = textEarlierPartner.In(lang, account.Partner.Name, ui.DateTime(lang, e.Link.LinkedAt))
	}
	for _, d := range e.Deposits {
		v.Rows = append(v.Rows, rowOf(d, lang))
	}
	return v
}

// counted is a number of deposits; 10000+ where there are more.
func counted(n depositports.WorkCount) string {
	if n.More {
		return strconv.Itoa(n.Count) + "+"
	}
	return strconv.Itoa(n.Count)
}

func workViewOf(kind depositports.Work, t desk.Today, lang ui.Lang) workView {
	w := workView{ID: string(kind), Title: workTexts[kind].title.In(lang), Hint: workTexts[kind].hint.In(lang),
		Count: counted(t.Counts[kind])}
	for _, d := range t.First[kind] {
		r := rowOf(d, lang)
		if kind == depositports.WorkEnding {
			r.Ends = textEnds.In(lang, ui.DateTime(lang, d.ExpiresAt))
		}
		w.Rows = append(w.Rows, r)
	}
	if t.Counts[kind].Count > len(w.Rows) {
		all := url.Values{queryStatus: {statusesOf(kind)}}
		if kind == depositports.WorkEnding {
			all.Set(queryEndsBy, t.Ending.Format(time.RFC3339Nano))
		}
		w.More = ui.WithQuery(pathDeposits, all.Encode())
	}
	return w
}

// The view box of the chart, and where its bars stand.
const (
	chartWidth  = 480
	chartHeight = 140
	barsBottom  = 118
	barsTop     = 18
	barWidth    = 26
)

func chartOf(year []desk.Month, lang ui.Lang) chart {
	var ch chart
	for _, m := range year {
		ch.Max = max(ch.Max, m.Made)
		ch.Total += m.Made
	}
	step := chartWidth / len(year)
	for i, m := range year {
		height := 0
		if ch.Max > 0 {
			height = (m.Made*(barsBottom-barsTop) + ch.Max - 1) / ch.Max // a month with few deposits has a bar too
		}
		x := i*step + (step-barWidth)/2
		ch.Bars = append(ch.Bars, bar{
			X: strconv.Itoa(x), Y: strconv.Itoa(barsBottom - height), Height: strconv.Itoa(height),
			Middle: strconv.Itoa(x + barWidth/2),
			Letter: strings.ToUpper(string([]rune(ui.Month(lang, m.Start))[:1])),
			Month:  ui.Month(lang, m.Start) + "\u00a0" + strconv.Itoa(m.Start.Year()), Count: strconv.Itoa(m.Made),
		})
	}
	return ch
}

// todayView is the data of the operator's first page.
type todayView struct {
	Page    ui.Page
	Account connections.AccountView
	Work    []workView
	Figures []fact
	Chart   chart
	Verify  *verifyView  // nil: the address is verified
	Earlier *earlierView // nil: nothing to show
}

// earlierView is what was made for the account before a reset first proved the operator's address.
type earlierView struct {
	Lead    string
	Partner string // "": no link from before
	Rows    []row
	Count   string // of deposits; the rows are the newest of them
}

// workView is a kind of deposits that wait for something.
type workView struct {
	ID, Title, Hint, Count string
	Rows                   []row
	More                   string // path of the list with all of them; "": the rows are all
}

// chart is a bar chart of the deposits that were made in each month.
type chart struct {
	Bars  []bar
	Total int
	Max   int
}

// bar is a month. Places are in the units of the chart's view box.
type bar struct {
	X, Y, Height, Middle string
	Letter               string // under the bar
	Month                string // with its year, in the table
	Count                string
}
