// Package site holds the path of every page for people. Routes, menus, mails, checkout URLs and tests take the
// paths from here; a test (adapters/http) finds a path that is written anywhere else.
//
// A segment that begins with a colon stands for a value, as in the patterns of routes. The partner API and the
// endpoints for machines are not pages: their paths are in adapters/http/partnerapi/routes.go and
// adapters/http/ops.
package site

import (
	"net/url"
	"path"
	"strings"
)

// Paths of the pages that need no session: registration, log-in, and the links in mails.
const (
	HomePath           = "/"
	RegisterPath       = "/register"
	LogInPath          = "/login"
	TwoFactorCodePath  = LogInPath + "/code"
	LogOutPath         = "/logout"
	ConnectPath        = "/connect"
	ConnectDonePath    = ConnectPath + "/done"
	VerifyEmailPath    = "/verify"
	PasswordPathPrefix = "/password"
	ForgotPasswordPath = PasswordPathPrefix + "/forgot"
	ResetPasswordPath  = PasswordPathPrefix + "/reset"
)

// Paths of the operator's pages, which need the session of an operator.
const (
	DashboardPath         = "/dashboard"
	DepositsPath          = DashboardPath + "/deposits"
	DepositsExportPath    = DashboardPath + "/deposits.csv"
	NewDepositPath        = DepositsPath + "/new"
	ConfirmBulkActionPath = DepositsPath + "/confirm/:form"
	DepositPath           = DepositsPath + "/:id"
	ClaimPath             = DepositPath + "/claim"
	DepositFilePath       = DepositPath + "/files/:fileId"
	ConfirmDepositPath    = DepositPath + "/confirm/:form"
	RetryNewDepositPath   = NewDepositPath + "/:form"
	MoneyPath             = DashboardPath + "/money"
	MoneyExportPath       = DashboardPath + "/money.csv"
	PartnerPath           = DashboardPath + "/partner"
	SettingsPath          = DashboardPath + "/settings"
	UnlinkPath            = DashboardPath + "/unlink"
)

// Paths of the tenant's pages, whose token is the tenant's only credential.
const (
	CheckoutPathPrefix = "/checkout"
	CheckoutPath       = CheckoutPathPrefix + "/:token"
	// The path of the page to which the payment provider sends the tenant back.
	CheckoutReturnPath = CheckoutPath + "/return"
)

// Pages that exist in development only.
const (
	CaughtMailsPath    = "/sandbox/mails"
	CaughtMailPath     = CaughtMailsPath + "/:id"
	CaughtMailHTMLPath = CaughtMailPath + "/html"
	SandboxPaymentPath = "/sandbox/pay/:ref"
	SandboxAssetsPath  = "/sandbox/assets"
)

// Paths of the files that pages load, and of the documentation of the API.
const (
	AssetsPath          = "/assets"
	FaviconPath         = "/favicon.ico"
	DocsPath            = "/docs"
	LLMsTextPath        = "/llms.txt"
	OpenAPIPathPrefix   = "/openapi"
	OpenAPI31Path       = OpenAPIPathPrefix + ".json"
	OpenAPI30Path       = OpenAPIPathPrefix + "-3.0.json"
	EgressAddressesPath = "/egress.json"
)

// Paths that other systems call. Payment providers append their name to that of their notices.
const (
	IncomingCallbacksPathPrefix = "/webhooks/"
	ProviderCallbacksPath       = IncomingCallbacksPathPrefix + "payments/"
)

// PathAfterLogIn returns the page of the dashboard that a log-in request names. For any other text it returns the
// first page, so that nobody is redirected to another site.
func PathAfterLogIn(asked string) string {
	u, err := url.Parse(asked)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Fragment != "" || u.Opaque != "" ||
		strings.ContainsFunc(asked, func(r rune) bool { return r <= ' ' || r == '\\' || r > '~' }) ||
		path.Clean(u.Path) != u.Path || !IsDashboardPath(u.Path) {
		return DashboardPath
	}
	return u.RequestURI()
}

// IsDashboardPath reports whether a path is that of an operator's page: the dashboard's first page, or one below it.
func IsDashboardPath(at string) bool {
	return at == DashboardPath || strings.HasPrefix(at, DashboardPath+"/")
}

// FillPath fills values into the placeholders of a path: /dashboard/deposits/:id and "dep_1" make
// /dashboard/deposits/dep_1. It panics if their numbers differ.
func FillPath(pattern string, values ...string) string {
	parts := strings.Split(pattern, "/")
	for i, part := range parts {
		if strings.HasPrefix(part, ":") {
			parts[i], values = values[0], values[1:]
		}
	}
	if len(values) > 0 {
		panic("site: " + pattern + " has fewer places")
	}
	return strings.Join(parts, "/")
}

// PageURL returns the absolute address of a page. base may end in a slash.
func PageURL(base, path string) string { return strings.TrimSuffix(base, "/") + path }

// CheckoutURL returns the address of a checkout. Every response about a deposit may contain one, so strings are
// joined directly.
func CheckoutURL(base, token string) string {
	return strings.TrimSuffix(base, "/") + CheckoutPathPrefix + "/" + token
}
