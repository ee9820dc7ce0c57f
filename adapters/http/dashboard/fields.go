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

// Names of the form fields and values of the field intent on the operator's pages (pages.md, "Paths and fields").
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
	// Id of a deposit, repeated in a form about several deposits.
	fieldDeposit = "deposit"

	intentCapture  = string(deposits.ActCapture)
	intentRelease  = string(deposits.ActRelease)
	intentCancel   = string(deposits.ActCancel)
	intentSendLink = string(deposits.ActSendLink)
	intentAddFiles = string(deposits.ActAddFiles)
	intentRemind   = string(deposits.ActRemind)
	intentSettled  = string(deposits.ActMarkSettledElsewhere)
	intentWithdraw = string(deposits.ActWithdrawClaim)
	intentCreate   = "create"
	intentUnlink   = "unlink"

	intentEnableTOTP    = "enable_totp"
	intentConfirmTOTP   = "confirm_totp"
	intentDisableTOTP   = "disable_totp"
	intentRecoveryCodes = "new_recovery_codes"

	confirmed = "yes"
)

// Names of the settings page's form fields, and values of its field intent (pages.md, "Accounts").
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

// Query parameters of the operator's pages.
const (
	queryUnlinked = "unlinked"
	queryDone     = "done"
	// createdNow is the value of the query parameter done after a deposit was created; after another act, it is the
	// act's intent.
	createdNow = "created"

	queryStatus = "status"
	queryText   = "q"
	queryFrom   = "from"
	queryTo     = "to"
	queryEndsBy = "ends_by"
	queryCursor = "cursor"
	queryMonth  = "month"
	// The query parameter before selects the page of the list that ends just before a position.
	queryBefore = "before"
	queryView   = "view"
	querySort   = "sort"
)

// fileTypes lists what the browser's file dialog offers; a file's content decides whether it is accepted.
const fileTypes = "image/jpeg,image/png,image/webp,application/pdf"

type actForm struct {
	intent                                          string
	amountText, reason, description, comment, email string
	amount                                          money.Cents
	// Whether the operator ticked the box to claim the whole amount.
	whole bool
	// Version of the deposit that the page showed; 0 for none.
	version int
	form    [16]byte
	sender  depositports.UploadSession
	waiting []id.ID
	refused []refusedFile
	// Whether a form with a mistake had files, which must be chosen again.
	lostFiles bool
	mistakes  []ui.Mistake
	// Whether the form was sent after the session had ended, without effect.
	restored bool
}

func (f actForm) act() deposits.OperatorAct { return deposits.OperatorAct(f.intent) }

// open reports whether the form with this intent is shown unfolded, after mistakes or the session's end.
func (f actForm) open(intent string) bool {
	return f.intent == intent && (f.restored || len(f.mistakes) > 0)
}

// first reports whether the field with this id is the form's first with a mistake.
func (f actForm) first(id string) bool { return len(f.mistakes) > 0 && f.mistakes[0].Field == id }

// value returns the text that a form's field shows: the sent one if this form was sent, otherwise the default.
func (f actForm) value(intent, sent, otherwise string) string {
	if f.intent == intent {
		return sent
	}
	return otherwise
}

var amountPattern = regexp.MustCompile(`^[0-9]{1,9}([.,][0-9]{1,2})?$`)

// parseAmount parses euros with a point or comma and at most two decimals; false for any other text.
func parseAmount(text string) (money.Cents, bool) {
	if !amountPattern.MatchString(text) {
		return 0, false
	}
	whole, fraction, _ := strings.Cut(strings.Replace(text, ",", ".", 1), ".")
	cents, err := strconv.ParseInt(whole+(fraction + "00")[:2], 10, 64)
	return money.Cents(cents), err == nil
}

// lines returns the text of a text area with Unix line ends, trimmed.
func lines(text string) string { return strings.TrimSpace(strings.ReplaceAll(text, "\r\n", "\n")) }

// textual reports whether a text has no control characters and at most the given number of characters.
func textual(text string, most int) bool {
	return utf8.ValidString(text) && utf8.RuneCountInString(text) <= most &&
		!strings.ContainsFunc(text, func(r rune) bool { return unicode.IsControl(r) && r != '\n' && r != '\t' })
}

func (f actForm) takesFiles() bool { return f.intent == intentCapture || f.intent == intentAddFiles }

// day parses an ISO date and returns the first moment of that day; false if invalid, the zero time and true if
// empty.
func day(text string, in *time.Location) (first time.Time, ok bool) {
	if text == "" {
		return time.Time{}, true
	}
	return zone.ParseDay(text, in)
}
