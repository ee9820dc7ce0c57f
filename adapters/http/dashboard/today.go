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
	"partnerdeposits/app/deposits"
	"partnerdeposits/app/deposits/desk"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/site"
	depositports "partnerdeposits/ports/deposits"
)

func (p *pages) showToday(c *fiber.Ctx, by caller) error {
	lang := ui.LangOf(c)
	account, err := p.Connections.FindAccount(c.UserContext(), by.Account.ID)
	if err != nil {
		return err
	}
	t, err := p.Desk.BuildOverview(c.UserContext(), by.Account)
	if err != nil {
		return err
	}
	v := todayView{Page: p.page(c, by, ui.SectionToday, textToday.In(lang)), Account: account,
		Token: p.Site.FormToken(c), Figures: figuresOf(t, lang)}
	if p.Operators.HasUnverifiedEmail(by.Operator) {
		ask := p.verifyView(c, by, textVerifyAskLead.In(lang, by.Operator.Email))
		v.Verify = &ask
	}
	earlier, err := p.Desk.RecordsBeforeEmailProof(c.UserContext(), by.Operator, by.Account, account.Link)
	if err != nil {
		return err
	}
	if earlier != nil {
		v.Earlier = earlierViewOf(earlier, account, lang)
	}
	if t.Empty {
		if v.Steps, err = p.stepsOf(c, by, lang); err != nil {
			return err
		}
		return ui.Render(c, http.StatusOK, todayPage(v))
	}
	for _, kind := range depositports.OverviewGroups {
		if len(t.First[kind]) > 0 {
			v.Work = append(v.Work, p.workViewOf(kind, t, lang))
		}
	}
	for _, depositID := range t.Refused {
		v.Refused, v.RefusedForm = append(v.Refused, id.Deposit.Of(depositID)), p.newForm()
	}
	if ch := chartOf(t.Year, lang); ch.Total >= leastCharted {
		v.Chart = ch
	}
	return ui.Render(c, http.StatusOK, todayPage(v))
}

// stepsOf returns the first steps, such as verifying the e-mail address, of an account without deposits.
func (p *pages) stepsOf(c *fiber.Ctx, by caller, lang ui.Lang) ([]step, error) {
	codes, err := p.Operators.TwoFactorState(c.UserContext(), by.Operator.ID)
	return []step{
		{Name: textStepVerify.In(lang), Says: textStepVerifySays.In(lang), Path: pathSettings + "#address",
			Done: !p.Operators.HasUnverifiedEmail(by.Operator)},
		{Name: textStepDeposit.In(lang), Says: textStepDepositSays.In(lang), Path: pathNew},
		{Name: textStepCodes.In(lang), Says: textStepCodesSays.In(lang), Path: pathSettings + "#two-factor", Done: codes.On},
	}, err
}

func viewPath(view string) string {
	return ui.PathWithQuery(pathDeposits, url.Values{queryView: {view}}.Encode())
}

func figuresOf(t desk.Overview, lang ui.Lang) []figure {
	awaiting, active, refused := t.Counts[depositports.OverviewAwaitingTenant], t.Counts[depositports.OverviewActive],
		t.CountRefusedPayments()
	all := []figure{
		{Name: textFigureAwaiting.In(lang), Value: counted(awaiting), Path: viewPath("awaiting")},
		{Name: textFigureRefused.In(lang), Value: counted(refused), Path: viewPath("refused")},
		{Name: textFigureActive.In(lang), Value: counted(active), Path: viewPath("secured"),
			Note: textFigureAmount.In(lang, ui.Euros(lang, active.Amount))},
		{Name: textFigureMonth.In(lang), Value: strconv.Itoa(t.Year[len(t.Year)-1].Made), Path: pathDeposits},
	}
	if awaiting.Count > 0 {
		all[0].Note = textFigureAmount.In(lang, ui.Euros(lang, awaiting.Amount))
	}
	if refused.Count > 0 {
		all[1].Tone = "bad"
	}
	return all
}

func earlierViewOf(e *desk.RecordsBeforeEmailProof, account connections.AccountView, lang ui.Lang) *earlierView {
	v := &earlierView{Lead: textEarlierLead.In(lang, ui.FormatDateTime(lang, e.Until)), Count: strconv.Itoa(e.Count)}
	if e.Link != nil {
		linked := e.Link.LinkedAt.In(account.Account.Zone())
		v.Partner = textEarlierPartner.In(lang, account.Partner.Name, ui.FormatDateTime(lang, linked))
	}
	for _, d := range e.Deposits {
		r := workRowOf(d, lang)
		r.Chip = r.State
		v.Rows = append(v.Rows, r)
	}
	return v
}

// counted formats a number of deposits; one only known to be larger gets a plus, such as 10000+.
func counted(n depositports.DepositGroupCount) string {
	if n.More {
		return strconv.Itoa(n.Count) + "+"
	}
	return strconv.Itoa(n.Count)
}

func (p *pages) workViewOf(kind depositports.OverviewGroup, t desk.Overview, lang ui.Lang) workView {
	says := workTexts[kind]
	w := workView{ID: string(kind), Chip: ui.Chip{Text: says.title.In(lang), Tone: says.tone, Icon: says.icon},
		Hint: says.hint.In(lang), Count: counted(t.CountOfGroup(kind))}
	for _, d := range t.First[kind] {
		r := workRowOf(d, lang)
		if kind == depositports.OverviewCoverEnding {
			r.Says = textEnds.In(lang, ui.FormatDate(lang, d.ExpiresAt))
		}
		if kind == depositports.OverviewCollecting && d.Debt != nil {
			r.Says = collectionOf(*d.Debt, lang)
		}
		p.addAct(&r, kind, d, t.Now, lang)
		w.Rows = append(w.Rows, r)
	}
	if t.CountOfGroup(kind).Count > len(w.Rows) {
		w.More = allOf(kind, t)
	}
	return w
}

// allOf returns the path of the list of deposits with a kind of open work, such as a refused card.
func allOf(kind depositports.OverviewGroup, t desk.Overview) string {
	q := url.Values{queryStatus: {statusesOf(kind)}}
	switch kind {
	case depositports.OverviewStayBeginning:
		q.Set(queryFrom, t.Week.From.Format(time.DateOnly))
		q.Set(queryTo, t.Week.To.Format(time.DateOnly))
	case depositports.OverviewCoverEnding:
		q.Set(queryEndsBy, t.Week.To.Format(time.RFC3339Nano))
	case depositports.OverviewPaymentRefused, depositports.OverviewCardRefused:
		return viewPath("refused")
	case depositports.OverviewCollecting:
		return viewPath("claimed")
	default:
		return viewPath("awaiting")
	}
	return ui.PathWithQuery(pathDeposits, q.Encode())
}

func workRowOf(d desk.DepositRow, lang ui.Lang) workRow {
	r := workRow{row: rowOf(d, lang)}
	if d.Status == deposit.Captured {
		// A captured deposit's row shows the captured amount instead of the full one.
		r.Amount = ui.Euros(lang, d.CapturedAmount)
	}
	switch {
	case r.Tenant != "":
		r.Who = r.Tenant
	case d.ClientID.IsZero():
		r.Who = textTodayNobody.In(lang)
	default:
		r.Who = textErased.In(lang)
	}
	return r
}

// addAct adds the button for the act that a deposit waits for. Its form is already confirmed: the row describes
// the act, which only mails.
func (p *pages) addAct(r *workRow, kind depositports.OverviewGroup, d desk.DepositRow, now time.Time, lang ui.Lang) {
	mails := func(label ui.LocalizedText, act deposits.OperatorAct, more ...hidden) {
		r.Act = label.In(lang)
		r.Hidden = append([]hidden{{fieldIntent, string(act)}, {fieldConfirm, confirmed},
			{fieldVersion, strconv.Itoa(d.Version)}, {fieldForm, p.newForm()}}, more...)
	}
	r.Act, r.ActPath = textTodayOpen.In(lang), r.Path
	switch {
	case kind == depositports.OverviewCoverEnding:
		r.Act, r.ActPath = textTodayClaim.In(lang), site.FillPath(site.ClaimPath, id.Deposit.Of(d.ID))
	case d.Status.InCheckout() && d.Client != nil && deposits.ActSendLink.CheckPossible(d.Deposit, nil, now) == nil:
		mails(textTodaySend, deposits.ActSendLink, hidden{fieldEmail, d.Client.Email})
	case kind != depositports.OverviewCardRefused || d.Client == nil:
	case deposits.ActRemind.CheckPossible(d.Deposit, d.Debt, now) == nil:
		mails(textTodayRemind, deposits.ActRemind)
	case d.Debt != nil && d.Debt.RemindableAt().After(now):
		r.Act, r.ActPath = textTodayReminded.In(lang, ui.FormatDate(lang, d.Debt.AskedAt)), ""
	}
}

// Size of the chart's view box and position of its bars. It is shown in this size, so that letters are 12 px high.
const (
	chartWidth = 252
	barsBottom = 100
	barsTop    = 8
	barWidth   = 14
	// leastCharted is the least number of deposits for which the first page shows the chart.
	leastCharted = 5
)

func chartOf(year []desk.MonthlyDepositCount, lang ui.Lang) chart {
	var ch chart
	for _, m := range year {
		ch.Max = max(ch.Max, m.Made)
		ch.Total += m.Made
	}
	step := chartWidth / len(year)
	for i, m := range year {
		height := 0
		if ch.Max > 0 {
			// Round the height up, so that a month with few deposits has a bar.
			height = (m.Made*(barsBottom-barsTop) + ch.Max - 1) / ch.Max
		}
		x := i*step + (step-barWidth)/2
		ch.Bars = append(ch.Bars, bar{
			X: strconv.Itoa(x), Y: strconv.Itoa(barsBottom - height), Height: strconv.Itoa(height),
			Middle: strconv.Itoa(x + barWidth/2),
			Letter: strings.ToUpper(string([]rune(ui.FormatShortMonth(lang, m.Start))[:1])),
			Month:  ui.FormatShortMonth(lang, m.Start) + "\u00a0" + strconv.Itoa(m.Start.Year()), Count: strconv.Itoa(m.Made),
		})
	}
	return ch
}

type todayView struct {
	Page    ui.Page
	Account connections.AccountView
	Token   string
	// First steps of an account that never had a deposit; the page then shows no figures and no work.
	Steps       []step
	Figures     []figure
	Work        []workView
	Refused     []string // Ids of the deposits whose tenants one button mails together.
	RefusedForm string
	// Bar chart of the deposits created per month; no bars for few deposits.
	Chart chart
	// The request to verify the e-mail address; nil if it is verified.
	Verify *verifyView
	// What was made before the operator's address was proved; nil for nothing.
	Earlier *earlierView
}

// step is a first step, such as verifying the e-mail address, of a new account.
type step struct {
	Name, Says, Path string
	Done             bool
}

// figure is a number on the operator's first page, linked to what it counts.
type figure struct{ Name, Value, Note, Path, Tone string }

// earlierView is what was made for the account before a password reset proved the operator's address.
type earlierView struct {
	Lead string
	// Sentence about a partner link made before the operator proved the e-mail address; "" for none.
	Partner string
	Rows    []workRow
	// Number of deposits made before the operator proved the e-mail address.
	Count string
}

// workView is a group of deposits on the first page that wait for the same reason, such as a refused card.
type workView struct {
	ID, Hint, Count string
	Chip            ui.Chip
	Rows            []workRow
	More            string // Path of the list with all deposits of the group; "" if all are shown.
}

// workRow is a deposit on the first page with the act it waits for, such as a mail to the tenant.
type workRow struct {
	row
	Who  string  // The tenant's name, or why there is none.
	Chip ui.Chip // Label of the deposit's state, if the group's heading does not name it.
	Says string  // The fact about the deposit to read first, such as a date.
	// Label of the button or link for the row's act; plain text if there is neither.
	Act     string
	ActPath string
	// Hidden fields of the form behind the row's button.
	Hidden []hidden
}

type chart struct {
	Bars  []bar
	Total int
	Max   int
}

// bar is a month's bar in the chart of deposits, in units of the view box.
type bar struct {
	X, Y, Height, Middle string
	Letter               string // First letter of the month's name, below its bar.
	// Month and year, in the table with the chart's numbers.
	Month string
	Count string
}
