package dashboard_test

import (
	"net/http"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSettings_TurnTheMailsAboutCoversOffAndOn_OfTheOperatorAlone(t *testing.T) {
	s, _, b, _ := demo(t)
	linked(t, s, "c@d.example", "demo")
	page := b.Get("/dashboard/settings?lang=fr")
	require.Contains(t, page.Body, "Me prévenir")
	require.Regexp(t, `<input type="checkbox" value="yes" checked id="coverMails"`, page.Body)
	sent := b.Send(page, form(t, page, "change_mails"), map[string]string{"coverMails": ""})
	require.Equal(t, http.StatusSeeOther, sent.Status)
	require.Equal(t, "/dashboard/settings?done=change_mails", sent.Location)
	page = b.Get(sent.Location)
	require.Contains(t, page.Body, "Votre choix est enregistré.")
	require.NotContains(t, page.Body, "checked")
	require.Equal(t, 1, s.Count("operators", "email = 'a@b.example' AND NOT cover_mails"))
	require.Equal(t, 1, s.Count("operators", "email = 'c@d.example' AND cover_mails"))
	b.Send(page, form(t, page, "change_mails"), map[string]string{"coverMails": "yes"})
	require.Zero(t, s.Count("operators", "NOT cover_mails"))
}
