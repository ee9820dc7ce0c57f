package middleware

import (
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/core/site"
)

// RequestObservation describes an answered request, for metrics. Every label comes from a closed set: Route is a
// route's pattern.
type RequestObservation struct {
	Surface  string
	Route    string
	Method   string
	Status   int
	Duration time.Duration
	TraceID  string // Id of the trace that records the request; "" for none.
}

// Names of the surfaces (parts of the public server) in metrics.
const (
	SurfaceAPI       = "partner_api"
	SurfaceConnect   = "connect"
	SurfaceCheckout  = "checkout"
	SurfaceDashboard = "dashboard"
	SurfaceDocs      = "docs"
	// The name, in metrics, of the part of the server that receives callbacks of the payment provider.
	SurfacePayments = "payments"
	SurfaceOther    = "other"
)

// Surfaces lists the names of all surfaces of the public server.
var Surfaces = []string{SurfaceAPI, SurfaceConnect, SurfaceCheckout, SurfaceDashboard, SurfaceDocs, SurfacePayments,
	SurfaceOther}

// otherMethod is the label, in metrics, of every HTTP method that no route has.
const otherMethod = "OTHER"

// APIPathPrefix is the beginning of every path of the partner API.
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

// SurfaceOfPath returns the part of the public server (such as API, pages or documentation) that a request path belongs
// to, as metrics name it.
func SurfaceOfPath(path string) string {
	for _, s := range surfacePrefixes {
		if strings.HasPrefix(path, s.prefix) {
			return s.surface
		}
	}
	return SurfaceOther
}

// boundedMethod returns the metrics label of an HTTP method, so that made-up methods add no labels.
func boundedMethod(m string) string {
	switch m {
	case fiber.MethodGet, fiber.MethodHead, fiber.MethodPost, fiber.MethodPut, fiber.MethodPatch, fiber.MethodDelete,
		fiber.MethodOptions:
		return m
	default:
		return otherMethod
	}
}
