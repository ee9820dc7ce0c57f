package partnerapi_test

import (
	"net/http"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/partnerapi"
)

const accountsPath = partnerapi.PathPrefix + "/accounts"

var (
	announced = time.Date(2027, 3, 1, 0, 0, 0, 0, time.UTC)
	ended     = time.Date(2028, 3, 1, 12, 0, 0, 0, time.UTC)
)

// Every response of a deprecated route says so, refusals included, and no response of another route does.
func TestDeprecation_IsAnnouncedOnEveryResponseOfTheRoute(t *testing.T) {
	t.Parallel()
	w := newWorldWith(t, func(_ *fiber.App, d *partnerapi.Deps) {
		d.Deprecations = []partnerapi.Deprecation{
			{Method: http.MethodGet, Path: accountsPath, Since: announced, Sunset: ended}}
	})
	c := w.caller(t, "acme")
	c.link("hotel-1")
	c.link("hotel-2")
	const notice = `<https://api.test/docs#listAccounts>; rel="deprecation"; type="text/html"`

	page := c.get("/accounts?limit=1")
	require.Len(t, page.list(), 1)
	refused := c.get("/accounts?limit=0")
	refused.refused(400, "invalid_field")
	unknown := c.get("/accounts", "x-api-key", "")
	unknown.refused(401, "missing_api_key")
	head := c.do(http.MethodHead, "/accounts", nil)
	for _, r := range []reply{page, refused, unknown, head} {
		require.Equal(t, "@1803859200", r.header.Get("Deprecation"))
		require.Equal(t, "Wed, 01 Mar 2028 12:00:00 GMT", r.header.Get("Sunset"))
		require.Contains(t, r.header.Get("Link"), notice)
	}
	require.Regexp(t,
		`^<https://api\.test/api/partner/v1/accounts\?.*>; rel="next", <.*>; rel="deprecation"; type="text/html"$`,
		page.header.Get("Link"))

	for _, r := range []reply{c.get("/me"), c.get("/webhooks")} {
		require.Equal(t, 200, r.status)
		require.Empty(t, r.header.Get("Deprecation")+r.header.Get("Sunset")+r.header.Get("Link"))
	}
}

func TestMarkDeprecated_MarksTheOperationAlone(t *testing.T) {
	t.Parallel()
	doc, err := partnerapi.LoadOpenAPIDocument()
	require.NoError(t, err)
	require.NoError(t, partnerapi.MarkDeprecated(doc,
		[]partnerapi.Deprecation{{Method: http.MethodGet, Path: accountsPath, Since: announced, Sunset: ended}}))
	for path, item := range doc.Paths.Map() {
		for method, op := range item.Operations() {
			require.Equal(t, path == accountsPath && method == http.MethodGet, op.Deprecated, "%s %s", method, path)
		}
	}
}

func TestMarkDeprecated_RefusesUnknownRoutesAndShortNotice(t *testing.T) {
	t.Parallel()
	doc, err := partnerapi.LoadOpenAPIDocument()
	require.NoError(t, err)
	for want, d := range map[string]partnerapi.Deprecation{
		"has no such operation": {Method: http.MethodPut, Path: accountsPath, Since: announced, Sunset: ended},
		"shorter than 12 months": {Method: http.MethodGet, Path: accountsPath, Since: announced.AddDate(0, 1, 0),
			Sunset: ended},
		"openapi.yaml has no such op": {Method: http.MethodGet, Path: accountsPath + "/x", Since: announced, Sunset: ended},
	} {
		require.ErrorContains(t, partnerapi.MarkDeprecated(doc, []partnerapi.Deprecation{d}), want)
	}
}

func TestDeprecations_KeepThePromise(t *testing.T) {
	t.Parallel()
	doc, err := partnerapi.LoadOpenAPIDocument()
	require.NoError(t, err)
	require.NoError(t, partnerapi.MarkDeprecated(doc, partnerapi.Deprecations))
}
