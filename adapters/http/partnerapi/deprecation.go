package partnerapi

import (
	"fmt"
	"net/http"
	"strconv"
	"time"

	"github.com/getkin/kin-openapi/openapi3"
	"github.com/gofiber/fiber/v2"

	"partnerdeposits/core/site"
)

// Deprecation describes a deprecated route of the API (api.md §1, "Versions and deprecation").
type Deprecation struct {
	Method string    // HTTP method of the deprecated route, such as GET.
	Path   string    // Path of the deprecated route, as in openapi.yaml.
	Since  time.Time // Time from which the route is deprecated, which may be in the future.
	Sunset time.Time // Time from which the route may be removed.
}

// Deprecations lists the deprecated routes of the API; currently none. An entry marks the operation in the OpenAPI
// document and on the documentation page, and sets headers on every response of the route.
// docs/guides/releasing.md explains the steps.
var Deprecations []Deprecation

// noticeMonths is the least number of months between the deprecation of a route and its removal.
const noticeMonths = 12

const (
	headerDeprecation = "Deprecation" // Name of the Deprecation header (RFC 9745).
	headerSunset      = "Sunset"      // Name of the Sunset header (RFC 8594).
)

// MarkDeprecated sets `deprecated` on the listed operations of an OpenAPI document. It returns an error for an
// operation that the document lacks, and for a notice that is shorter than promised.
func MarkDeprecated(doc *openapi3.T, list []Deprecation) error {
	for _, d := range list {
		item := doc.Paths.Value(d.Path)
		if item == nil || item.GetOperation(d.Method) == nil {
			return fmt.Errorf("deprecation of %s %s: openapi.yaml has no such operation", d.Method, d.Path)
		}
		if d.Sunset.Before(d.Since.AddDate(0, noticeMonths, 0)) {
			return fmt.Errorf("deprecation of %s %s: the notice is shorter than %d months", d.Method, d.Path, noticeMonths)
		}
		item.GetOperation(d.Method).Deprecated = true
	}
	return nil
}

// deprecated returns the handler that sets the deprecation headers on the responses of a route; nil for a route
// that is not deprecated.
func (a *api) deprecated(r route) fiber.Handler {
	for _, d := range a.Deprecations {
		if d.Method != r.method || fiberPath(d.Path) != r.path {
			continue
		}
		since, sunset := "@"+strconv.FormatInt(d.Since.Unix(), 10), d.Sunset.UTC().Format(http.TimeFormat)
		link := "<" + a.BaseURL + site.DocsPath + "#" + a.validator.operations[r.method+" "+r.path].id +
			`>; rel="deprecation"; type="text/html"`
		return func(c *fiber.Ctx) error {
			err := c.Next()
			if err != nil {
				// Remove the Link header, which names the next page: an error response has none.
				c.Response().Header.Del(fiber.HeaderLink)
			}
			c.Set(headerDeprecation, since)
			c.Set(headerSunset, sunset)
			// Add the link to the documentation to the Link header, beside the link to the next page.
			c.Append(fiber.HeaderLink, link)
			return err
		}
	}
	return nil
}
