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

// Deprecation announces the end of a route (api.md §1, "Versions and deprecation").
type Deprecation struct {
	Method string    // such as GET
	Path   string    // as in openapi.yaml
	Since  time.Time // from which the route is deprecated; may lie ahead
	Sunset time.Time // from which the route may be gone
}

// Deprecations lists the deprecated routes: none. A line marks the operation in the document and on the page, and sets
// the headers of every response of the route. docs/guides/releasing.md explains the steps.
var Deprecations []Deprecation

// noticeMonths is the least time between Since and Sunset.
const noticeMonths = 12

const (
	headerDeprecation = "Deprecation" // RFC 9745
	headerSunset      = "Sunset"      // RFC 8594
)

// MarkDeprecated sets `deprecated` on the operations of the list. Returns an error for an operation that doc lacks, and
// for a notice that is shorter than promised.
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

// deprecated returns the handler that announces the end of a route, or nil for a route that stays.
func (a *api) deprecated(r route) fiber.Handler {
	for _, d := range a.Deprecations {
		if d.Method != r.method || fiberPath(d.Path) != r.path {
			continue
		}
		since, sunset := "@"+strconv.FormatInt(d.Since.Unix(), 10), d.Sunset.UTC().Format(http.TimeFormat)
		link := "<" + a.BaseURL + site.Docs + "#" + a.validator.operations[r.method+" "+r.path].id +
			`>; rel="deprecation"; type="text/html"`
		return func(c *fiber.Ctx) error {
			err := c.Next()
			if err != nil {
				c.Response().Header.Del(fiber.HeaderLink) // a refusal has no next page
			}
			c.Set(headerDeprecation, since)
			c.Set(headerSunset, sunset)
			c.Append(fiber.HeaderLink, link) // beside the link to the next page
			return err
		}
	}
	return nil
}
