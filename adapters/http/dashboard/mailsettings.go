package dashboard

import (
	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/ui"
)

const (
	intentMails     = "change_mails"
	fieldCoverMails = "coverMails"
)

var (
	textMailsTitle = ui.T("E-mails", "E-mails")
	textCoverMails = ui.T("Tell me when the cover of a deposit is about to end", "Me prévenir lorsque la couverture d’une caution arrive à échéance")
	textCoverHint  = ui.T("At most one e-mail a day, 7 days ahead.", "Un e-mail par jour au plus, 7 jours à l’avance.")
	textMailsSave  = ui.T("Save", "Enregistrer")
	textMailsDone  = ui.T("Your choice is saved.", "Votre choix est enregistré.")
)

// coverMails is the checkbox of the mails about covers that end.
func coverMails(lang ui.Lang, wanted bool) ui.Field {
	f := ui.Field{Name: fieldCoverMails, Label: textCoverMails.In(lang), Hint: textCoverHint.In(lang)}
	if wanted {
		f.Value = ui.Checked
	}
	return f
}

func (p *pages) changeMails(c *fiber.Ctx, by caller) error {
	if err := p.Operators.ChangeCoverMails(c.UserContext(), by.Operator, ui.PostValue(c, fieldCoverMails) == ui.Checked); err != nil {
		return err
	}
	return settled(c, intentMails)
}
