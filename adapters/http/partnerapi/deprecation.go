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
	Method string
	Path   string
	Since  time.Time // Time from which the route is deprecated, perhaps in the future.
	Sunset time.Time
}

// Deprecations lists the deprecated API routes; currently none. An entry marks the operation in the documentation
// and sets headers on every response. docs/guides/releasing.md explains the steps.
var Deprecations []Deprecation

// noticeMonths is the least number of months between deprecation and removal of a route.
const noticeMonths = 12

const (
	headerDeprecation = "Deprecation" // Name of the Deprecation header (RFC 9745).
	headerSunset      = "Sunset"      // Name of the Sunset header (RFC 8594).
)

// MarkDeprecated sets `deprecated` on the listed operations of an OpenAPI document. It returns an error for an
// unknown operation or too short a notice.
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

// deprecated returns the handler that sets a route's deprecation headers; nil for a route that is not deprecated.
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
				// An error response has no next page, so its Link header is removed.
				c.Response().Header.Del(fiber.HeaderLink)
			}
			c.Set(headerDeprecation, since)
			c.Set(headerSunset, sunset)
			// Add the documentation to the Link header, beside the next page.
			c.Append(fiber.HeaderLink, link)
			return err
		}
	}
	return nil
}
