package middleware

import (
	"strings"
	"sync"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"
)

// UnmatchedRouteLabel is the route label of a request that matched no route.
const UnmatchedRouteLabel = "unmatched"

// routeNames finds a request's route pattern for logs and metrics, since fiber may report a middleware's.
type routeNames struct {
	once  sync.Once
	known map[string]bool // Set of the app's routes, each as "METHOD /path".
	// For each HTTP method, the routes with path parameters, split into segments.
	patterns map[string][][]string
}

// learn reads the app's routes when the first request arrives; all are registered before.
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

// of returns the route pattern, such as /deposits/:id, that a request reached or, if a middleware answered, would
// have reached; UnmatchedRouteLabel for none.
func (r *routeNames) of(c *fiber.Ctx, method string) string {
	r.learn(c.App())
	if path := c.Route().Path; r.known[method+" "+path] {
		return path
	}
	return r.match(method, c.Path())
}

// ofUnread returns method, path and route of a request whose body could not be read; no route without a parsed
// head.
func (r *routeNames) ofUnread(app *fiber.App, ctx *fasthttp.RequestCtx) (method, path, route string) {
	// fasthttp has dropped an unparsed head and would report GET /, so report no method and path.
	if len(ctx.Request.Header.RawHeaders()) == 0 {
		return otherMethod, "", UnmatchedRouteLabel
	}
	r.learn(app)
	method, path = string(ctx.Method()), string(ctx.Path())
	return boundedMethod(method), path, r.match(method, path)
}

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
