package middleware

import (
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// UnmatchedRouteLabel is the route label, in logs and metrics, of a request that matched no route.
const UnmatchedRouteLabel = "unmatched"

// routeNames finds the route pattern of a request for logs and metrics, since fiber may report the pattern of a
// middleware.
type routeNames struct {
	once  sync.Once
	known map[string]bool // Set of the app's routes, each as "METHOD /path".
	// For each HTTP method, the routes that have parameters in their paths, split into segments.
	patterns map[string][][]string
}

// learn reads the routes of the app when the first request arrives, since all routes are registered before.
func (r *routeNames) learn(app *fiber.App) {
	r.once.Do(func() {
		r.known, r.patterns = map[string]bool{}, map[string][][]string{}
		for _, route := range app.GetRoutes(true) {
			r.known[route.Method+" "+route.Path] = true
			if strings.Contains(route.Path, ":") {
				r.patterns[route.Method] = append(r.patterns[route.Method], segments(route.Path))
			}
		}
	})
}

// of returns the pattern of the route, such as /deposits/:id, that answered the request c. If a middleware
// answered, it returns the route that the request would have reached; UnmatchedRouteLabel for none.
func (r *routeNames) of(c *fiber.Ctx, method string) string {
	r.learn(c.App())
	if path := c.Route().Path; r.known[method+" "+path] {
		return path
	}
	return r.match(method, c.Path())
}

// ofUnread returns method, path and route of a request whose body could not be read. A request whose head cannot
// be parsed has no route.
func (r *routeNames) ofUnread(app *fiber.App, ctx *fasthttp.RequestCtx) (method, path, route string) {
	// Report no method and path for a head that could not be parsed: fasthttp has dropped it, and would report GET /.
	if len(ctx.Request.Header.RawHeaders()) == 0 {
		return otherMethod, "", UnmatchedRouteLabel
	}
	r.learn(app)
	method, path = string(ctx.Method()), string(ctx.Path())
	return boundedMethod(method), path, r.match(method, path)
}

// match returns the route pattern that fits a method and path, or UnmatchedRouteLabel.
func (r *routeNames) match(method, path string) string {
	if len(path) > 1 {
		path = strings.TrimSuffix(path, "/")
	}
	if r.known[method+" "+path] {
		return path
	}
	asked := segments(path)
	for _, pattern := range r.patterns[method] {
		if fits(asked, pattern) {
			return strings.Join(pattern, "/")
		}
	}
	return UnmatchedRouteLabel
}

func segments(path string) []string { return strings.Split(path, "/") }

func fits(asked, pattern []string) bool {
	if len(asked) != len(pattern) {
		return false
	}
	for i, segment := range pattern {
		if asked[i] != segment && (asked[i] == "" || !strings.HasPrefix(segment, ":")) {
			return false
		}
	}
	return true
}
