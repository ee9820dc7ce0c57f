package dashboard_test

import (
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/core/site"
	"partnerdeposits/lab/connecttest"
)

// The consent page promises nothing else than the list, and each promise has its acts: routes of the partner's API, and
// forms of the operator's pages.
func TestPromisesOfTheConsentPage_EachHaveTheirActs(t *testing.T) {
	s, p, b, account := demo(t)
	made := deposits(t, s, p, account, 2)
	secured(t, s, made[1], 48*time.Hour)
	var pages []connecttest.Answer
	for _, r := range routes() {
		// of forms that were sent
		if r[0] != http.MethodGet || r[1] == site.DepositFilePath || strings.HasSuffix(r[1], "/:form") {
			continue
		}
		for _, deposit := range made {
			if r[1] == site.ClaimPath && deposit != made[1] { // of a secured deposit alone
				continue
			}
			pages = append(pages, b.Get(strings.Replace(r[1], site.DepositPath, pathOf(t, s, deposit), 1)))
			require.Equal(t, http.StatusOK, pages[len(pages)-1].Status, r[1])
		}
	}
	document, err := openapi3.NewLoader().LoadFromFile("../partnerapi/openapi.yaml")
	require.NoError(t, err)

	promises := append([]ui.ConsentPromise{}, ui.PartnerRights...)
	promises = append(promises, ui.UnlinkPromise)
	for _, lang := range ui.Langs {
		consent := registered(t, s, string(lang)+"@d.example").Get("/login?" +
			connecttest.SignedQuery(key, "demo", "op-other", unix(s), "&lang="+string(lang)))
		require.Equal(t, http.StatusOK, consent.Status)
		items := consent.ElementsByTag("li")
		require.Len(t, items, len(ui.PartnerRights), "a promise without a line in ui.PartnerRights")
		for i, item := range items {
			require.Equal(t, ui.PartnerRights[i].In(lang), item.FirstChild.Data)
		}
		require.Contains(t, consent.Body, ui.UnlinkPromise.In(lang))
	}
	for _, promise := range promises {
		name := promise.In(ui.English)
		require.NotEmpty(t, promise.API, name)
		require.NotEmpty(t, promise.Desk, name)
		for _, route := range promise.API {
			method, path, _ := strings.Cut(route, " ")
			item := document.Paths.Value("/api/partner/v1" + path)
			require.NotNil(t, item, "%s: %s", name, route)
			require.NotNil(t, item.GetOperation(method), "%s: %s", name, route)
		}
		for _, intent := range promise.Desk {
			found := false
			for _, page := range pages {
				found = found || page.FormIndexByIntent(intent) >= 0
			}
			require.True(t, found, "%s: no form of the desk has the intent %s", name, intent)
		}
	}
}
