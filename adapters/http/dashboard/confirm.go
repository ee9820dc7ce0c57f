package dashboard

import (
	"encoding/hex"
	"errors"
	"net/http"
	"slices"
	"strconv"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/deposits/desk"
	"partnerdeposits/core/evidence"
	"partnerdeposits/core/id"
	"partnerdeposits/core/twofactor"
	paymentports "partnerdeposits/ports/payments"
)

// confirm renders the page that asks to confirm an act on a deposit. Its form carries the version of the deposit
// shown. wrongCode is the message about a wrong two-factor code; "" for none.
func (p *pages) confirm(c *fiber.Ctx, by caller, v desk.DepositView, f actForm, wrongCode string) error {
	lang := ui.LangOf(c)
	view := confirmView{Path: depositPath(v.ID), Token: p.Site.FormToken(c), Danger: true, Hidden: []hidden{
		{fieldIntent, f.intent}, {fieldConfirm, confirmed}, {fieldVersion, strconv.Itoa(v.Version)},
		{fieldForm, hex.EncodeToString(f.form[:])},
	}}
	who := tenantOf(v.Deposit)
	if who == "" {
		who = textTheTenant.In(lang)
	}
	var title string
	switch f.intent {
	case intentCapture:
		amount := ui.Euros(lang, f.amount)
		title, view.Button = textConfirmCapture.In(lang, amount), textButtonCapture.In(lang, amount)
		view.Says = []string{textSaysCapture.In(lang, amount, ui.Euros(lang, v.Amount), who, v.Reference)}
		if slices.ContainsFunc(v.Disputes, func(d paymentports.StoredDispute) bool { return d.Reason == "fraudulent" }) {
			view.Says = append(view.Says, textSaysFraud.In(lang))
		}
		if rest := v.Amount - f.amount; rest > 0 {
			view.Says = append(view.Says, textSaysRest.In(lang, ui.Euros(lang, rest)))
		}
		view.Says = append(view.Says, textSaysCoverEnds.In(lang, ui.FormatDate(lang, v.ExpiresAt)), textSaysFinal.In(lang))
		p.askToClaim(&view, by, v, f, lang)
		view.Hidden = append(view.Hidden, hidden{fieldAmount, f.amount.String()}, hidden{fieldReason, f.reason},
			hidden{fieldDescription, f.description})
		if err := p.askForCode(c, by, &view, wrongCode); err != nil {
			return err
		}
	case intentRelease:
		title, view.Button = textConfirmRelease.In(lang, ui.Euros(lang, v.Amount)), textButtonRelease.In(lang)
		view.Says = []string{textSaysRelease.In(lang, ui.Euros(lang, v.Amount), who),
			textSaysCoverEnds.In(lang, ui.FormatDate(lang, v.ExpiresAt)), textSaysFinal.In(lang)}
		view.Hidden = append(view.Hidden, hidden{fieldComment, f.comment})
	case intentCancel:
		title, view.Button = textConfirmCancel.In(lang, ui.Euros(lang, v.Amount)), textButtonCancel.In(lang)
		view.Says = []string{textSaysCancel.In(lang, who, ui.Euros(lang, v.Amount),
			periodOf(lang, v.ContractStartAt, v.ContractEndAt)), textSaysFinal.In(lang)}
		view.Hidden = append(view.Hidden, hidden{fieldComment, f.comment})
	case intentRemind, intentSettled, intentWithdraw:
		title = p.askAboutClaim(&view, v, f, lang)
	case intentAddFiles:
		title, view.Button, view.Danger = textConfirmFiles.In(lang), textButtonFiles.In(lang), false
	default:
		title = askAboutLink(&view, v, f, lang)
	}
	if err := p.addWaiting(c, &view, f); errors.Is(err, evidence.ErrFilesGone) {
		return p.conflict(c, by, v, err)
	} else if err != nil {
		return err
	}
	view.Page = p.page(c, by, ui.SectionDeposits, title)
	status := http.StatusOK
	if wrongCode != "" {
		status, view.Page.ErrorCode = http.StatusUnprocessableEntity, twofactor.ErrWrongCode.Code
	}
	return ui.Render(c, status, confirmPage(view))
}

func askAboutLink(view *confirmView, v desk.DepositView, f actForm, lang ui.Lang) (title string) {
	view.Button, view.Danger = textButtonSend.In(lang), false
	view.Says = []string{
		textSaysSend.In(lang, f.email, ui.Euros(lang, v.Amount), periodOf(lang, v.ContractStartAt, v.ContractEndAt)),
		textSaysSendUntil.In(lang, ui.FormatDateTime(lang, v.CheckoutExpiresAt)),
	}
	view.Hidden = append(view.Hidden, hidden{fieldEmail, f.email})
	return textConfirmSend.In(lang, f.email)
}

// addWaiting adds the files that wait for confirmation to the page, or returns evidence.ErrFilesGone if one is no
// longer stored.
func (p *pages) addWaiting(c *fiber.Ctx, view *confirmView, f actForm) error {
	files, err := p.Deposits.ListUnconfirmedFiles(c.UserContext(), f.sender, f.waiting)
	if err != nil {
		return err
	}
	view.Files = linesOf(files, ui.LangOf(c))
	for _, fileID := range f.waiting {
		view.Hidden = append(view.Hidden, hidden{fieldWaiting, id.File.Of(fileID)})
	}
	return nil
}

func (p *pages) askForCode(c *fiber.Ctx, by caller, view *confirmView, wrongCode string) error {
	state, err := p.Operators.TwoFactorState(c.UserContext(), by.Operator.ID)
	if err == nil && state.On {
		view.Fields, view.Error = []ui.Field{codeField("", ui.LangOf(c), wrongCode)}, wrongCode
	}
	return err
}

type confirmView struct {
	Page ui.Page
	// URL path to which the confirmation form is sent and to which its back link leads.
	Path   string
	Token  string
	Says   []string // Sentences about the consequences of the act to be confirmed.
	Facts  []fact
	Mail   *claimMail
	Files  []fileLine
	Hidden []hidden
	Fields []ui.Field
	Error  string
	Button string
	Danger bool
}

type hidden struct{ Name, Value string }
