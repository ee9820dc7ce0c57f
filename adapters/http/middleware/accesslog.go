package middleware

import (
	"log/slog"
	"strings"
	"sync"
	"time"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/problem"
)

// Observation is one answered request, for metrics. Every label is from a closed set: a route is its pattern.
type Observation struct {
	Surface  string
	Route    string
	Method   string
	Status   int
	Duration time.Duration
}

// The surfaces, as metrics name them.
const (
	SurfaceAPI       = "partner_api"
	SurfaceConnect   = "connect"
	SurfaceCheckout  = "checkout"
	SurfaceDashboard = "dashboard"
	SurfaceDocs      = "docs"
	SurfaceOther     = "other"
)

// Surfaces lists every surface.
var Surfaces = []string{SurfaceAPI, SurfaceConnect, SurfaceCheckout, SurfaceDashboard, SurfaceDocs, SurfaceOther}

// UnmatchedRoute is the route label of requests that matched none.
const UnmatchedRoute = "unmatched"

// otherMethod is the method label of methods that no route of ours has.
const otherMethod = "OTHER"

// APIPrefix begins every path of the partner API.
const APIPrefix = "/api/"

var surfacePrefixes = []struct{ prefix, surface string }{
	{APIPrefix, SurfaceAPI},
	{"/register", SurfaceConnect},
	{"/login", SurfaceConnect},
	{"/connect", SurfaceConnect},
	{"/checkout", SurfaceCheckout},
	{"/dashboard", SurfaceDashboard},
	{"/docs", SurfaceDocs},
	{"/openapi.json", SurfaceDocs},
}

// Surface tells which part of the service a path belongs to.
func Surface(path string) string {
	for _, s := range surfacePrefixes {
		if strings.HasPrefix(path, s.prefix) {
			return s.surface
		}
	}
	return SurfaceOther
}

// AccessLog logs every request in one line and hands it to observe, which may be nil. Neither the path nor the query is
// logged: a checkout path and a connect query are credentials. Errors from further in are answered here, so that the
// status is the one that the caller sees.
func AccessLog(log *slog.Logger, observe func(Observation)) fiber.Handler {
	var routes routeNames
	return func(c *fiber.Ctx) error {
		start := time.Now()
		method := c.Method()
		surface := Surface(c.Path())
		if err := c.Next(); err != nil {
			if err := c.App().ErrorHandler(c, err); err != nil {
				return err
			}
		}
		o := Observation{
			Surface: surface, Route: routes.of(c, method), Method: boundedMethod(method),
			Status: c.Response().StatusCode(), Duration: time.Since(start),
		}
		if observe != nil {
			observe(o)
		}
		log.LogAttrs(c.UserContext(), slog.LevelInfo, "request",
			slog.String("request_id", problem.RequestID(c)),
			slog.String("surface", o.Surface),
			slog.String("method", o.Method),
			slog.String("route", o.Route),
			slog.Int("status", o.Status),
			slog.Float64("duration_ms", float64(o.Duration.Microseconds())/1000),
			slog.Int("bytes_in", len(c.Request().Body())),
			slog.Int("bytes_out", len(c.Response().Body())),
			slog.String("remote_ip", c.IP()),
		)
		return nil
	}
}

func boundedMethod(m string) string {
	switch m {
	case fiber.MethodGet, fiber.MethodHead, fiber.MethodPost, fiber.MethodPut, fiber.MethodPatch, fiber.MethodDelete, fiber.MethodOptions:
		return m
	default:
		return otherMethod
	}
}

// routeNames knows the routes of the app, so that a middleware's own pattern is not taken for one.
type routeNames struct {
	once  sync.Once
	known map[string]bool
}

func (r *routeNames) of(c *fiber.Ctx, method string) string {
	r.once.Do(func() {
		r.known = map[string]bool{}
		for _, route := range c.App().GetRoutes(true) {
			r.known[route.Method+" "+route.Path] = true
		}
	})
	if path := c.Route().Path; r.known[method+" "+path] {
		return path
	}
	return UnmatchedRoute
}
