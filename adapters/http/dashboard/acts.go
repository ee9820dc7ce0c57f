package dashboard

import (
	"encoding/hex"
	"errors"
	"net/http"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/middleware"
	"partnerdeposits/adapters/http/problem"
	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/accounts/operators"
	"partnerdeposits/app/deposits"
	"partnerdeposits/app/deposits/desk"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/money"
	"partnerdeposits/core/tenant"
	"partnerdeposits/core/twofactor"
	depositports "partnerdeposits/ports/deposits"
	ports "partnerdeposits/ports/platform"
)

// Fields of the forms (pages.md, "Paths and fields").
const (
	fieldIntent      = "intent"
	fieldConfirm     = "confirm"
	fieldAmount      = "amount"
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

	intentCapture  = string(deposits.ActCapture)
	intentRelease  = string(deposits.ActRelease)
	intentCancel   = string(deposits.ActCancel)
	intentSendLink = string(deposits.ActSendLink)
	intentAddFiles = string(deposits.ActAddFiles)
	intentCreate   = "create"
	intentUnlink   = "unlink"

	intentEnableTOTP    = "enable_totp"
	intentConfirmTOTP   = "confirm_totp"
	intentDisableTOTP   = "disable_totp"
	intentRecoveryCodes = "new_recovery_codes"

	confirmed = "yes"
)

// actForm is a form of a deposit's page as it was sent.
type actForm struct {
	intent                                          string
	amountText, reason, description, comment, email string
	amount                                          money.Cents
	version                                         int // that the page showed; 0: the form does not tell
	form                                            [16]byte
	sender                                          depositports.FileSender // of the files
	waiting                                         []id.ID                 // files that the form names
	lostFiles                                       bool                    // files were sent beside a mistake: they are to be sent again
	mistakes                                        []ui.Mistake
}

func (f actForm) act() deposits.Act { return deposits.Act(f.intent) }

// open reports whether the disclosure of the form is open: the form was sent with mistakes.
func (f actForm) open(intent string) bool { return f.intent == intent && len(f.mistakes) > 0 }

// value is a field of the form of the intent; otherwise for a form that was not sent.
func (f actForm) value(intent, sent, otherwise string) string {
	if f.intent == intent {
		return sent
	}
	return otherwise
}

// act answers the forms of a deposit's page: mistakes, the page that asks once more, or the act.
func (p *pages) act(c *fiber.Ctx, by caller) error {
	v, err := p.find(c, by)
	if err != nil {
		return err
	}
	path := depositPath(v.ID)
	ui.SetReadAt(c, path)
	var sent *upload
	if body := middleware.UploadOf(c); body != nil {
		sent, err = p.readUpload(c, by, v, body)
		defer sent.close()
		if err != nil {
			return p.uploadRefused(c, by, v, err)
		}
	} else if err := p.Site.CheckForm(c); err != nil {
		return ui.RenderFormExpired(c, path)
	}
	return p.actOn(c, by, v, sent)
}

// actOn answers a form whose token was checked. sent are the files of the form; nil for a form without any.
func (p *pages) actOn(c *fiber.Ctx, by caller, v desk.View, sent *upload) error {
	f := p.actFormOf(c, v)
	if f.intent == "" {
		return c.Redirect(depositPath(v.ID), http.StatusSeeOther)
	}
	checked, err := p.fileMistakes(c, sent, &f)
	if err != nil {
		return err
	}
	defer checked.Close()
	if f.intent == intentAddFiles && len(f.mistakes) == 0 && checked.Len()+len(f.waiting) == 0 {
		f.mistakes = []ui.Mistake{{Field: intentAddFiles + "-" + fieldFiles, Text: textChooseFile.In(ui.LangOf(c))}}
	}
	if len(f.mistakes) > 0 {
		f.lostFiles = checked.Len() > 0
		return p.renderDeposit(c, by, http.StatusUnprocessableEntity, v, f, "")
	}
	if f.act().NeedsVerified() && p.Operators.Unverified(by.Operator) {
		return p.unverified(c, by)
	}
	if ui.PostValue(c, fieldConfirm) != confirmed {
		if err := f.act().Possible(v.Deposit, v.Now); err != nil {
			return p.conflict(c, by, v, err)
		}
	}
	if err := p.keep(c, v, &f, checked); err != nil {
		return err
	}
	if ui.PostValue(c, fieldConfirm) != confirmed {
		return p.confirm(c, by, v, f, "")
	}
	return p.answer(c, by, v, f, p.run(c, by, v, f))
}

// run makes the act.
func (p *pages) run(c *fiber.Ctx, by caller, v desk.View, f actForm) error {
	ctx := c.UserContext()
	form := deposits.DeskForm{DepositID: v.ID, Version: f.version, Key: f.form}
	if form.Version == 0 {
		form.Version = v.Version
	}
	files := deposits.FilesToAdd{From: f.sender, IDs: f.waiting}
	switch f.intent {
	case intentCapture:
		request := deposits.CaptureRequest{DepositID: v.ID, Amount: &f.amount, Reason: f.reason, Description: f.description, Files: files}
		return p.Deposits.CaptureByOperator(ctx, by, form, request, deposits.Proof{Code: ui.PostValue(c, fieldCode), Network: ui.NetworkOf(c.IP())})
	case intentAddFiles:
		return p.Deposits.AddFilesByOperator(ctx, by, form, files)
	case intentRelease:
		return p.Deposits.ReleaseByOperator(ctx, by, form, f.comment)
	case intentCancel:
		return p.Deposits.CancelByOperator(ctx, by, form, f.comment)
	default:
		if err := p.limited(c, by, operators.DeskMails); err != nil {
			return err
		}
		return p.Deposits.SendLinkByOperator(ctx, by, form, tenant.Contact{Email: f.email})
	}
}

// limited counts a request of the account under a limit. Returns rate_limited.
func (p *pages) limited(c *fiber.Ctx, by caller, limit operators.DeskLimit) error {
	decision := p.Limiter.Allow(c.UserContext(), limit.Of(by.Account.ID))
	if !decision.Allowed {
		return fault.ErrRateLimited.WithRetryAfter(decision.RetryAfter)
	}
	return nil
}

// answer turns the result of an act into a page.
func (p *pages) answer(c *fiber.Ctx, by caller, v desk.View, f actForm, err error) error {
	done := depositPath(v.ID) + "?" + queryDone + "=" + f.intent
	switch {
	case errors.Is(err, connect.ErrUnverified):
		return p.unverified(c, by)
	case err == nil, errors.Is(err, ports.ErrKeyInUse): // the same form is being answered: its page will tell
		return c.Redirect(done, http.StatusSeeOther)
	case errors.Is(err, twofactor.ErrWrongCode):
		return p.confirm(c, by, v, f, ui.FailureOf(twofactor.ErrWrongCode.Code).Message.In(ui.LangOf(c)))
	case errors.Is(err, deposit.ErrExceedsAmount):
		f.mistakes = []ui.Mistake{{Field: intentCapture + "-" + fieldAmount, Text: textBadAmount.In(ui.LangOf(c), ui.Euros(ui.LangOf(c), p.Deposits.LeastCapture()), ui.Euros(ui.LangOf(c), v.Amount))}}
		return p.renderDeposit(c, by, http.StatusUnprocessableEntity, v, f, "")
	case errors.Is(err, ports.ErrKeyReused), fault.KindOf(err) == fault.Conflict:
		fresh, failed := p.Desk.Deposit(c.UserContext(), by.Account.ID, v.ID)
		if failed != nil {
			return failed
		}
		return p.conflict(c, by, fresh, err)
	default:
		return err
	}
}

// conflict tells why an act was refused, on the page of the deposit as it is now.
func (p *pages) conflict(c *fiber.Ctx, by caller, v desk.View, err error) error {
	lang := ui.LangOf(c)
	f := fault.Of(err)
	text, known := refusals[f.Code]
	if !known {
		text = refusals[deposits.ErrChanged.Code]
	}
	return p.renderDeposit(c, by, problem.Status(fault.Conflict), v, actForm{}, text.In(lang, statuses[v.Status].In(lang)))
}

// actFormOf reads a form. The intent is "" for an unknown one.
func (p *pages) actFormOf(c *fiber.Ctx, v desk.View) actForm {
	lang := ui.LangOf(c)
	f := actForm{
		intent: ui.PostValue(c, fieldIntent), amountText: strings.TrimSpace(ui.PostValue(c, fieldAmount)), reason: ui.PostValue(c, fieldReason),
		description: lines(ui.PostValue(c, fieldDescription)), comment: lines(ui.PostValue(c, fieldComment)), email: strings.TrimSpace(ui.PostValue(c, fieldEmail)),
	}
	if !slices.Contains(deposits.Acts, f.act()) {
		return actForm{}
	}
	f.version, _ = strconv.Atoi(ui.PostValue(c, fieldVersion))
	f.form = p.formID(c)
	if f.takesFiles() {
		f.waiting = waitingOf(c)
	}
	mistake := func(field string, text ui.Text, args ...any) {
		f.mistakes = append(f.mistakes, ui.Mistake{Field: f.intent + "-" + field, Text: text.In(lang, args...)})
	}
	switch f.intent {
	case intentCapture:
		var ok bool
		if f.amountText == "" {
			f.amountText = v.Amount.String()
		}
		least := p.Deposits.LeastCapture()
		if f.amount, ok = parseAmount(f.amountText); !ok || f.amount < least || f.amount > v.Amount {
			mistake(fieldAmount, textBadAmount, ui.Euros(lang, least), ui.Euros(lang, v.Amount))
		}
		if f.reason != "" && !slices.Contains(deposit.CaptureReasons, f.reason) {
			mistake(fieldReason, textBadReason)
		}
		if !textual(f.description, deposit.MaxDescription) {
			mistake(fieldDescription, textBadWords, deposit.MaxDescription)
		}
	case intentAddFiles:
	case intentSendLink:
		if (tenant.Contact{Email: f.email}).Validate("") != nil {
			mistake(fieldEmail, textBadEmail)
		}
	default:
		if !textual(f.comment, deposit.MaxComment) {
			mistake(fieldComment, textBadWords, deposit.MaxComment)
		}
	}
	return f
}

// formID is the key of the form, which its page contains; a new key for a form without one.
func (p *pages) formID(c *fiber.Ctx) (key [16]byte) {
	if raw, err := hex.DecodeString(ui.PostValue(c, fieldForm)); err == nil && len(raw) == len(key) {
		return [16]byte(raw)
	}
	return [16]byte(p.Entropy.NewID())
}

// newForm is the hidden key of a form that is shown.
func (p *pages) newForm() string { return hex.EncodeToString(p.Entropy.Bytes(16)) }

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
