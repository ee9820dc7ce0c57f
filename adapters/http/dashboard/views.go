package dashboard

import (
	"time"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/deposits/desk"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/evidence"
	"partnerdeposits/core/id"
)

type detailView struct {
	Page    ui.Page
	Path    string
	Done    string // Message about the act just performed on the deposit.
	Problem string // Why an act on the deposit was refused; "" if none was.
	View    desk.DepositView
	State   ui.Chip
	Sum     string
	Short   string // Warning that the deposit's cover ends before the stay; "" for none.
	Bar     *stayBar
	Facts   []fact
	Files   []fileLine
	Entries []entry
	LinkURL string // The tenant's checkout URL to copy; "" when the checkout is over.
	Token   string
	// The form that was sent with mistakes or after the session's end; zero for none.
	Act      actForm
	Captures bool
	Cancels  bool
	Adds     bool
	Claim    claimView
	Limits   string

	// Whether the operator may not claim or mail because the address is unverified.
	Unverified bool
}

// fact is a line about a deposit: label and value, with a note below.
type fact struct{ Name, Value, Note string }

type entry struct {
	At, Time, Text, Who string
	Notes               []string
}

func (v detailView) clientEmail() string {
	if v.View.Client == nil {
		return ""
	}
	return v.View.Client.Email
}

// field fills a field of a form on a deposit's page; the first one with a mistake gets the focus.
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

type fileLine struct {
	// Path, name and size of the file; the path is "" for a file that waits for confirmation.
	Path, Name, Size string
	At, Time, Who    string
}

func lineOf(f evidence.File, lang ui.Lang) fileLine {
	line := fileLine{Name: f.Name, Size: ui.FormatFileSize(lang, f.Size)}
	if !f.AddedAt.IsZero() {
		line.Path = depositPath(f.DepositID) + "/files/" + id.File.Of(f.ID)
		line.At, line.Time, line.Who = ui.FormatDateTime(lang, f.AddedAt), f.AddedAt.UTC().Format(time.RFC3339),
			authors[desk.AuthorOperator].In(lang)
	}
	return line
}

func linesOf(files []evidence.File, lang ui.Lang) (lines []fileLine) {
	for _, f := range files {
		lines = append(lines, lineOf(f, lang))
	}
	return lines
}

// filesField returns the form field for files. A browser drops chosen files when the form is shown again, so the
// field asks for them again.
func (v detailView) filesField(intent string, label ui.LocalizedText) ui.Field {
	lang := v.Page.Lang
	f := v.field(intent, ui.Field{Name: fieldFiles, Label: label.In(lang), Hint: textFilesHint.In(lang)})
	if f.Error == "" && v.Act.intent == intent && v.Act.lostFiles {
		f.Error = textFilesAgain.In(lang)
	}
	return f
}
