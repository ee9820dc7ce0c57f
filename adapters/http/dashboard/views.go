package dashboard

import (
	"net/url"
	"strings"
	"time"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/accounts/connections"
	"partnerdeposits/app/deposits/desk"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/evidence"
	"partnerdeposits/core/id"
	"partnerdeposits/core/twofactor"
	depositports "partnerdeposits/ports/deposits"
)

// detailView is the data of the page of a deposit.
type detailView struct {
	Page     ui.Page
	Path     string
	Done     string // message about the act that was just made
	Problem  string // why an act was refused
	View     desk.View
	State    state
	Facts    []fact
	Files    []fileLine
	Entries  []entry
	LinkURL  string // checkout URL to copy; "" when the checkout is over
	Token    string
	Act      actForm // the form that was sent with mistakes, or met an ended session; zero for none
	Captures bool    // the deposit can be captured and released
	Cancels  bool
	Adds     bool // files can be added
	Claim    claimView
}

// fact is a line about a deposit. Note stands below the value.
type fact struct{ Name, Value, Note string }

// entry is a line of the history.
type entry struct {
	At, Time, Text, Who string
	Notes               []string
}

// clientEmail is the tenant's address; "" while it is not known.
func (v detailView) clientEmail() string {
	if v.View.Client == nil {
		return ""
	}
	return v.View.Client.Email
}

// wholeAmount is the amount of the deposit, as the reader types amounts.
func (v detailView) wholeAmount() string {
	if v.Page.Lang == ui.French {
		return strings.Replace(v.View.Amount.String(), ".", ",", 1)
	}
	return v.View.Amount.String()
}

// errorOf is the mistake in a field of a form.
func (v detailView) errorOf(intent, field string) string {
	return mistakeOf(v.Act.mistakes, intent+"-"+field)
}

func reasonOptions(lang ui.Lang) []ui.Option {
	options := []ui.Option{{Value: "", Label: textNoReason.In(lang)}}
	for _, r := range deposit.CaptureReasons {
		options = append(options, ui.Option{Value: r, Label: reasons[r].In(lang)})
	}
	return options
}

// fileLine is a file on a page.
type fileLine struct {
	Path, Name, Size string // Path is "" for a file that waits
	At, Time, Who    string
}

func lineOf(f evidence.File, lang ui.Lang) fileLine {
	line := fileLine{Name: f.Name, Size: ui.Bytes(lang, f.Size)}
	if !f.AddedAt.IsZero() {
		line.Path = depositPath(f.DepositID) + "/files/" + id.File.Of(f.ID)
		line.At, line.Time, line.Who = ui.DateTime(lang, f.AddedAt), f.AddedAt.UTC().Format(time.RFC3339),
			authors[desk.ByOperator].In(lang)
	}
	return line
}

func linesOf(files []evidence.File, lang ui.Lang) (lines []fileLine) {
	for _, f := range files {
		lines = append(lines, lineOf(f, lang))
	}
	return lines
}

// filesField is the field for files of a form. A browser forgets chosen files when the form comes back.
func (v detailView) filesField(intent string, label ui.Text) ui.Field {
	lang := v.Page.Lang
	f := ui.Field{Form: intent, Name: fieldFiles, Label: label.In(lang), Hint: textFilesHint.In(lang),
		Error: v.errorOf(intent, fieldFiles)}
	if f.Error == "" && v.Act.intent == intent && v.Act.lostFiles {
		f.Error = textFilesAgain.In(lang)
	}
	return f
}

// confirmView is the data of a page that asks once more.
type confirmView struct {
	Page   ui.Page
	Path   string // target of the form, and of the way back
	Token  string
	Says   []string // what will happen
	Files  []fileLine
	Hidden []hidden
	Fields []ui.Field
	Error  string // of the first field
	Button string
	Danger bool
}

type hidden struct{ Name, Value string }

// newView is the data of the form of a new deposit.
type newView struct {
	Page     ui.Page
	Token    string
	Form     string
	Mistakes []ui.Mistake
	Restored bool // the fields met an ended session
	Fields   []ui.Field
	Tenant   []ui.Field
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

func mistakeOf(all []ui.Mistake, field string) string {
	for _, m := range all {
		if m.Field == field {
			return m.Text
		}
	}
	return ""
}

// partnerView is the data of the partner's page.
type partnerView struct {
	Page     ui.Page
	Account  connections.AccountView
	Token    string
	Unlinked bool
	Rights   []string
}

// settingsView is the data of the settings.
type settingsView struct {
	Page       ui.Page
	Token      string
	Done       string // what the last form did; "": nothing
	Email      string
	Unverified bool
	CoverMails bool

	Intent  string            // of the form that was sent with a mistake; "": none
	Mistake *ui.Mistake       // of that form
	Sent    map[string]string // its texts, passwords left out

	Password, Address []ui.Field
	Company, Language ui.Field
	Languages         []ui.Option
	Sessions          []sessionRow
	Others            bool // there are sessions beside this one

	Problem string // why a form was refused
	Codes   twofactor.State
}

// errorOf is the mistake in a field of a form.
func (v settingsView) errorOf(intent, field string) string {
	if v.Mistake != nil && v.Mistake.Field == intent+"-"+field {
		return v.Mistake.Text
	}
	return ""
}

// sessionRow is a session in the list.
type sessionRow struct {
	Name, Browser, Used, Since string
	This                       bool
}

// verifyView is the data of the request to verify the operator's address, on a page of its own or above another page.
type verifyView struct {
	Page  ui.Page
	Lead  string
	Token string
}

// coverMails is the checkbox of the mails about covers that end.
func coverMails(lang ui.Lang, wanted bool) ui.Field {
	f := ui.Field{Name: fieldCoverMails, Label: textCoverMails.In(lang), Hint: textCoverHint.In(lang)}
	if wanted {
		f.Value = ui.Checked
	}
	return f
}

// enrolView is the data of the page that shows the secret of two-factor codes.
type enrolView struct {
	Page   ui.Page
	Token  string
	QR     ui.QR
	Secret string // in groups of four
	Error  string // of the code
}

// recoveryView is the data of the page that shows recovery codes, once.
type recoveryView struct {
	Page  ui.Page
	Lead  string
	Codes []string
}

// passwordField is the field for the operator's password in the form of an intent.
func (v settingsView) passwordField(intent string) ui.Field {
	return ui.Field{
		Form: intent, Name: fieldCurrent, Type: "password", Label: textPasswordNow.In(v.Page.Lang),
		Autocomplete: "current-password", MaxLength: 200,
		Required: true, Error: v.errorOf(intent, fieldCurrent), Autofocus: v.errorOf(intent, fieldCurrent) != "",
	}
}

// codeField is the field for a code.
func codeField(form string, lang ui.Lang, mistake string) ui.Field {
	return ui.Field{
		Form: form, Name: fieldCode, Type: "text", Label: textCode.In(lang), Hint: textCodeHint.In(lang),
		Autocomplete: "one-time-code", MaxLength: 40,
		Required: true, Error: mistake, Autofocus: mistake != "",
	}
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
