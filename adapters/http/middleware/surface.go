package middleware

import (
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/core/site"
)

// RequestObservation describes an answered request for metrics. Its labels come from closed sets: Route is a
// pattern.
type RequestObservation struct {
	Surface  string
	Route    string
	Method   string
	Status   int
	Duration time.Duration
	TraceID  string
}

// Surfaces (parts of the public server) in metrics.
const (
	SurfaceAPI       = "partner_api"
	SurfaceConnect   = "connect"
	SurfaceCheckout  = "checkout"
	SurfaceDashboard = "dashboard"
	SurfaceDocs      = "docs"
	// The surface that receives callbacks of the payment provider.
	SurfacePayments = "payments"
	SurfaceOther    = "other"
)

var Surfaces = []string{SurfaceAPI, SurfaceConnect, SurfaceCheckout, SurfaceDashboard, SurfaceDocs, SurfacePayments,
	SurfaceOther}

// otherMethod is the metrics label of every HTTP method that no route has.
const otherMethod = "OTHER"

const APIPathPrefix = "/api/"

var surfacePrefixes = []struct{ prefix, surface string }{
	{APIPathPrefix, SurfaceAPI},
	{site.RegisterPath, SurfaceConnect},
	{site.LogInPath, SurfaceConnect},
	{site.ConnectPath, SurfaceConnect},
	{site.VerifyEmailPath, SurfaceConnect},
	{site.PasswordPathPrefix, SurfaceConnect},
	{site.CheckoutPathPrefix, SurfaceCheckout},
	{site.DashboardPath, SurfaceDashboard},
	{site.IncomingCallbacksPathPrefix, SurfacePayments},
	{site.DocsPath, SurfaceDocs},
	{site.LLMsTextPath, SurfaceDocs},
	{site.OpenAPIPathPrefix, SurfaceDocs},
	{site.EgressAddressesPath, SurfaceDocs},
}

// SurfaceOfPath returns the surface (part of the public server, such as API or pages) of a request path.
func SurfaceOfPath(path string) string {
	for _, s := range surfacePrefixes {
		if strings.HasPrefix(path, s.prefix) {
			return s.surface
		}
	}
	return SurfaceOther
}

// boundedMethod returns an HTTP method's metrics label, so that made-up methods add no labels.
func boundedMethod(m string) string {
	switch m {
	case fiber.MethodGet, fiber.MethodHead, fiber.MethodPost, fiber.MethodPut, fiber.MethodPatch, fiber.MethodDelete,
		fiber.MethodOptions:
		return m
	default:
		return otherMethod
	}
}
