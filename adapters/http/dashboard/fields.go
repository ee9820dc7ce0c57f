package dashboard

import (
	"regexp"
	"strconv"
	"strings"
	"time"
	"unicode"
	"unicode/utf8"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/deposits"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	"partnerdeposits/core/zone"
	depositports "partnerdeposits/ports/deposits"
)

// Fields of the forms (pages.md, "Paths and fields").
const (
	fieldIntent      = "intent"
	fieldConfirm     = "confirm"
	fieldAmount      = "amount"
	fieldWhole       = "whole"
	fieldReason      = "reason"
	fieldDescription = "description"
	fieldComment     = "comment"
	fieldEmail       = "email"
	fieldFiles       = "files"
	fieldWaiting     = "waiting"
	fieldVersion     = "version"
	fieldForm        = "form"
	fieldLink        = "link"
	fieldStartsOn    = "startsOn"
	fieldEndsOn      = "endsOn"
	fieldContract    = "rentalContract"
	fieldFirstName   = "firstName"
	fieldLastName    = "lastName"
	fieldCode        = "code"
	fieldDeposit     = "deposit" // of a form about several, once for each

	intentCapture  = string(deposits.ActCapture)
	intentRelease  = string(deposits.ActRelease)
	intentCancel   = string(deposits.ActCancel)
	intentSendLink = string(deposits.ActSendLink)
	intentAddFiles = string(deposits.ActAddFiles)
	intentRemind   = string(deposits.ActRemind)
	intentSettled  = string(deposits.ActSettled)
	intentWithdraw = string(deposits.ActWithdraw)
	intentCreate   = "create"
	intentUnlink   = "unlink"

	intentEnableTOTP    = "enable_totp"
	intentConfirmTOTP   = "confirm_totp"
	intentDisableTOTP   = "disable_totp"
	intentRecoveryCodes = "new_recovery_codes"

	confirmed = "yes"
)

// Intents and fields of the settings (pages.md, "Accounts").
const (
	intentResend   = "resend_verification"
	intentPassword = "change_password"
	intentEmail    = "change_email"
	intentCompany  = "change_company"
	intentLanguage = "change_language"
	intentContact  = "change_contact"
	intentZone     = "change_zone"
	intentEnd      = "end_session"

	fieldCurrent = "currentPassword"
	fieldNew     = "newPassword"
	fieldCompany = "companyName"
	fieldLocale  = "locale"
	fieldContact = "contact"
	fieldZone    = "timezone"
	fieldSession = "session"

	otherSessions = "others"

	intentMails     = "change_mails"
	fieldCoverMails = "coverMails"
)

// Parameters of the pages' addresses.
const (
	queryUnlinked = "unlinked"
	queryDone     = "done"
	// createdNow is the value of done after a deposit was made; after an act it is the act's intent.
	createdNow = "created"

	queryStatus = "status"
	queryText   = "q"
	queryFrom   = "from"
	queryTo     = "to"
	queryEndsBy = "ends_by"
	queryCursor = "cursor"
	queryMonth  = "month"
	queryBefore = "before" // a cursor whose page ends before it
	queryView   = "view"
	querySort   = "sort"
)

// fileTypes are the types that a browser offers. The content of a file decides, whatever was offered.
const fileTypes = "image/jpeg,image/png,image/webp,application/pdf"

// actForm is a form of a deposit's page as it was sent.
type actForm struct {
	intent                                          string
	amountText, reason, description, comment, email string
	amount                                          money.Cents
	whole                                           bool // the whole amount is ticked
	version                                         int  // that the page showed; 0: the form does not tell
	form                                            [16]byte
	sender                                          depositports.FileSender // of the files
	waiting                                         []id.ID                 // files that the form names
	refused                                         []refusedFile
	// files were sent beside a mistake: they are to be sent again
	lostFiles bool
	mistakes  []ui.Mistake
	restored  bool // the form met an ended session, and has had no effect
}

func (f actForm) act() deposits.Act { return deposits.Act(f.intent) }

// open reports whether the disclosure of the form is open: the form was sent with mistakes, or without a session.
func (f actForm) open(intent string) bool {
	return f.intent == intent && (f.restored || len(f.mistakes) > 0)
}

// first reports whether the field has the first mistake of the form.
func (f actForm) first(id string) bool { return len(f.mistakes) > 0 && f.mistakes[0].Field == id }

// value is a field of the form of the intent; otherwise for a form that was not sent.
func (f actForm) value(intent, sent, otherwise string) string {
	if f.intent == intent {
		return sent
	}
	return otherwise
}

var amountPattern = regexp.MustCompile(`^[0-9]{1,9}([.,][0-9]{1,2})?$`)

// parseAmount reads euros with a point or a comma and two decimals at most.
func parseAmount(text string) (money.Cents, bool) {
	if !amountPattern.MatchString(text) {
		return 0, false
	}
	whole, fraction, _ := strings.Cut(strings.Replace(text, ",", ".", 1), ".")
	cents, err := strconv.ParseInt(whole+(fraction + "00")[:2], 10, 64)
	return money.Cents(cents), err == nil
}

// lines is the text of a text area, with the line ends of Unix.
func lines(text string) string { return strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")) }

// textual reports whether a text of several lines has no control characters and at most so many characters.
func textual(text string, most int) bool {
	return utf8.ValidString(text) && utf8.RuneCountInString(text) <= most &&
		!strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' })
}

// takesFiles reports whether the form has a field for files.
func (f actForm) takesFiles() bool { return f.intent == intentCapture || f.intent == intentAddFiles }

// day reads an ISO date, and gives the first moment of that day in the time zone. For the empty text, which is no
// mistake, it gives the zero time.
func day(text string, in *time.Location) (first time.Time, ok bool) {
	if text == "" {
		return time.Time{}, true
	}
	return zone.Day(text, in)
}
