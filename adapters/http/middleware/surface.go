package middleware

import (
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/core/site"
)

// Observation is an answered request, for metrics. Every label comes from a closed set: Route is a route's pattern.
type Observation struct {
	Surface  string
	Route    string
	Method   string
	Status   int
	Duration time.Duration
	TraceID  string // of the recorded trace; "" for none
}

// The surfaces, as metrics name them.
const (
	SurfaceAPI       = "partner_api"
	SurfaceConnect   = "connect"
	SurfaceCheckout  = "checkout"
	SurfaceDashboard = "dashboard"
	SurfaceDocs      = "docs"
	SurfacePayments  = "payments" // notices of the payment provider
	SurfaceOther     = "other"
)

// Surfaces lists every surface.
var Surfaces = []string{SurfaceAPI, SurfaceConnect, SurfaceCheckout, SurfaceDashboard, SurfaceDocs, SurfacePayments,
	SurfaceOther}

// otherMethod is the method label of every method that no route has.
const otherMethod = "OTHER"

// APIPrefix begins every path of the partner API.
const APIPrefix = "/api/"

var surfacePrefixes = []struct{ prefix, surface string }{
	{APIPrefix, SurfaceAPI},
	{site.Register, SurfaceConnect},
	{site.LogIn, SurfaceConnect},
	{site.Connect, SurfaceConnect},
	{site.Verify, SurfaceConnect},
	{site.Password, SurfaceConnect},
	{site.Checkouts, SurfaceCheckout},
	{site.Desk, SurfaceDashboard},
	{site.Incoming, SurfacePayments},
	{site.Docs, SurfaceDocs},
	{site.LLMs, SurfaceDocs},
	{site.Documents, SurfaceDocs},
	{site.Egress, SurfaceDocs},
}

// Surface returns the part of the service that a path belongs to.
func Surface(path string) string {
	for _, s := range surfacePrefixes {
		if strings.HasPrefix(path, s.prefix) {
			return s.surface
		}
	}
	return SurfaceOther
}

// boundedMethod returns the method label of m.
func boundedMethod(m string) string {
	switch m {
	case fiber.MethodGet, fiber.MethodHead, fiber.MethodPost, fiber.MethodPut, fiber.MethodPatch, fiber.MethodDelete,
		fiber.MethodOptions:
		return m
	default:
		return otherMethod
	}
}
