package dashboard

import (
	"net/http"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/accounts/connections"
	"partnerdeposits/core/id"
)

func (p *pages) showPartner(c *fiber.Ctx, by caller) error {
	lang := ui.LangOf(c)
	account, err := p.Connections.FindAccount(c.UserContext(), by.Account.ID)
	if err != nil {
		return err
	}
	v := partnerView{
		Page: p.page(c, by, ui.SectionPartner, textPartner.In(lang)), Account: account, Token: p.Site.FormToken(c),
		Unlinked: c.Query(queryUnlinked) != "" && account.Link == nil,
	}
	for _, right := range ui.PartnerRights {
		v.Rights = append(v.Rights, right.In(lang))
	}
	return ui.Render(c, http.StatusOK, partnerPage(v))
}

// partnerForm handles the form that ends the link to a partner, after a confirmation.
func (p *pages) partnerForm(c *fiber.Ctx, by caller) error {
	ui.SetLanguageLinkPath(c, pathPartner)
	if err := p.Site.CheckCSRF(c); err != nil {
		return ui.RenderFormExpired(c, pathPartner)
	}
	if ui.PostValue(c, fieldIntent) != intentUnlink {
		return c.Redirect(pathPartner, http.StatusSeeOther)
	}
	if ui.PostValue(c, fieldConfirm) == confirmed {
		return p.unlink(c, by)
	}
	account, err := p.Connections.FindAccount(c.UserContext(), by.Account.ID)
	if err != nil {
		return err
	}
	if account.Link == nil || id.Link.Of(account.Link.ID) != ui.PostValue(c, fieldLink) {
		return c.Redirect(pathPartner, http.StatusSeeOther)
	}
	lang, name := ui.LangOf(c), account.Partner.Name
	v := confirmView{
		Page: p.page(c, by, ui.SectionPartner, textConfirmUnlink.In(lang, name)), Path: pathPartner,
		Token: p.Site.FormToken(c),
		Says:  []string{textUnlinkHint.In(lang, name), textUnlinkAgain.In(lang)}, Button: textUnlinkNow.In(lang),
		Danger: true,
		Hidden: []hidden{{fieldIntent, intentUnlink}, {fieldConfirm, confirmed}, {fieldLink, id.Link.Of(account.Link.ID)}},
	}
	v.Page.Wide, v.Page.ReadAt = false, pathPartner
	return ui.Render(c, http.StatusOK, confirmPage(v))
}

// unlink ends the partner link that the page showed; it changes nothing if the link has ended.
func (p *pages) unlink(c *fiber.Ctx, by caller) error {
	ui.SetLanguageLinkPath(c, pathPartner)
	if err := p.Site.CheckCSRF(c); err != nil {
		return ui.RenderFormExpired(c, pathPartner)
	}
	linkID, ok := id.Link.Parse(ui.PostValue(c, fieldLink))
	if !ok {
		return c.Redirect(pathPartner, http.StatusSeeOther)
	}
	if _, err := p.Connections.UnlinkByOperator(c.UserContext(), by.Operator, by.Account, linkID); err != nil {
		return err
	}
	return c.Redirect(pathPartner+"?"+queryUnlinked+"=1", http.StatusSeeOther)
}

type partnerView struct {
	Page     ui.Page
	Account  connections.AccountView
	Token    string
	Unlinked bool
	Rights   []string
}
