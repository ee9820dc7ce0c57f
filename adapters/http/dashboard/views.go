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
	Page    ui.Page
	Path    string
	Done    string // Message about the act that the operator has just performed on the deposit.
	Problem string // Reason why an act on the deposit was refused; "" if none was.
	View    desk.DepositView
	State   ui.Chip
	Sum     string // A line of text with the deposit's amount, stay and cover.
	Short   string // Warning that the deposit's cover ends before the stay; "" if it does not.
	Bar     *stayBar
	Facts   []fact
	Files   []fileLine
	Entries []entry
	LinkURL string // The tenant's checkout URL, for the operator to copy; "" when the checkout is over.
	Token   string
	// The form that was sent with mistakes, or after the session had ended; zero for none.
	Act      actForm
	Captures bool // True if the deposit can be captured and released; false otherwise.
	Cancels  bool
	Adds     bool // True if files can be added to the deposit; false otherwise.
	Claim    claimView
	Limits   string // Sentence about the least and the greatest amount that the operator can claim.

	// True if the operator may neither claim nor mail a tenant, since the address is not verified; false otherwise.
	Unverified bool
}

// fact is a line about a deposit on its page: a label and a value, with a note below the value.
type fact struct{ Name, Value, Note string }

// entry is an entry in the history on a deposit's page.
type entry struct {
	At, Time, Text, Who string
	Notes               []string
}

// clientEmail returns the tenant's e-mail address; "" if it is not known.
func (v detailView) clientEmail() string {
	if v.View.Client == nil {
		return ""
	}
	return v.View.Client.Email
}

// field fills a field of a form on a deposit's page with its error message. The first field with a mistake gets
// the focus.
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

// fileLine is a file on a deposit's page.
type fileLine struct {
	// URL path, name and formatted size of the file; the path is "" for a file that waits for confirmation.
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

// filesField returns the form field for files. A browser drops the chosen files when the form is shown again, so
// the field then asks for them again.
func (v detailView) filesField(intent string, label ui.LocalizedText) ui.Field {
	lang := v.Page.Lang
	f := v.field(intent, ui.Field{Name: fieldFiles, Label: label.In(lang), Hint: textFilesHint.In(lang)})
	if f.Error == "" && v.Act.intent == intent && v.Act.lostFiles {
		f.Error = textFilesAgain.In(lang)
	}
	return f
}
