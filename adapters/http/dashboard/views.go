package dashboard

import (
	"time"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/deposits/desk"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/evidence"
	"partnerdeposits/core/id"
)

// detailView is the data of the page of a deposit, and of the page of its claim.
type detailView struct {
	Page     ui.Page
	Path     string
	Done     string // message about the act that was just made
	Problem  string // why an act was refused
	View     desk.View
	State    ui.Chip
	Sum      string // amount, stay and cover
	Short    string // that the cover ends before the stay; "" where it does not
	Bar      *stayBar
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
	Limits   string // of the amount of a claim

	Unverified bool // the operator can neither claim nor mail a tenant
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

// field completes a field of the form of an act with its mistake. The first mistake has the focus.
func (v detailView) field(intent string, f ui.Field) ui.Field {
	f.Form = intent
	f.Error, f.Autofocus = mistakeOf(v.Act.mistakes, f.ID()), v.Act.first(f.ID())
	return f
}

func reasonOptions(lang ui.Lang) (options []ui.Option) {
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
	f := v.field(intent, ui.Field{Name: fieldFiles, Label: label.In(lang), Hint: textFilesHint.In(lang)})
	if f.Error == "" && v.Act.intent == intent && v.Act.lostFiles {
		f.Error = textFilesAgain.In(lang)
	}
	return f
}
