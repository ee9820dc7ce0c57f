// Package site is the map of the site: the path of every page for people. Routes, menus, mails, checkout URLs and tests
// take the paths from here; a test (adapters/http) finds a path that is written anywhere else.
//
// A part that begins with a colon stands for a value, as in the patterns of routes. The partner API and the endpoints
// for machines are no pages: their paths stand in adapters/http/partnerapi/routes.go and adapters/http/ops.
package site

import (
	"net/url"
	"path"
	"strings"
)

// Pages that nobody needs a session for: registration, log-in, and the links of mails.
const (
	Home     = "/"
	Register = "/register"
	LogIn    = "/login"
	Code     = LogIn + "/code" // the two-factor code of a half sign-in
	LogOut   = "/logout"
	Connect  = "/connect"
	Linked   = Connect + "/done"
	Verify   = "/verify" // link of a mail
	Password = "/password"
	Forgot   = Password + "/forgot"
	Reset    = Password + "/reset" // link of a mail
)

// Pages of the desk. Everything below Desk needs the session of an operator.
const (
	Desk        = "/dashboard"
	Deposits    = Desk + "/deposits"
	Export      = Desk + "/deposits.csv"
	NewDeposit  = Deposits + "/new"
	Several     = Deposits + "/confirm/:form" // a form about several deposits: its question, or its outcome
	Deposit     = Deposits + "/:id"
	Claim       = Deposit + "/claim"
	File        = Deposit + "/files/:fileId"
	Question    = Deposit + "/confirm/:form" // a form of a deposit that was sent: its question, or its mistakes
	NewAgain    = NewDeposit + "/:form"      // a form of a new deposit, with its mistakes
	Money       = Desk + "/money"
	MoneyExport = Desk + "/money.csv"
	Partner     = Desk + "/partner"
	Settings    = Desk + "/settings"
	Unlink      = Desk + "/unlink"
)

// Pages of a tenant, whose only credential is the token.
const (
	Checkouts      = "/checkout"
	Checkout       = Checkouts + "/:token"
	CheckoutReturn = Checkout + "/return" // the way back from the payment provider
)

// Pages of development: the caught mails, and the page of the sandbox provider.
const (
	CaughtMails      = "/sandbox/mails"
	CaughtMailsRules = CaughtMails + ".css"
	CaughtMail       = CaughtMails + "/:id"
	CaughtMailHTML   = CaughtMail + "/html"
	SandboxPayment   = "/sandbox/pay/:ref"
	SandboxAssets    = "/sandbox/assets"
)

// Files of the pages, and the documentation of the API.
const (
	Assets     = "/assets"
	Icon       = "/favicon.ico"
	Docs       = "/docs"
	LLMs       = "/llms.txt" // the map of the documentation, for programs that read
	Documents  = "/openapi"  // begins the names of the documents
	Document31 = Documents + ".json"
	Document30 = Documents + "-3.0.json"
	Egress     = "/egress.json" // the addresses from which deliveries come
)

// Paths for the programs of others. A payment provider sends its notices to ProviderCallbacks with its name.
const (
	Incoming          = "/webhooks/"
	ProviderCallbacks = Incoming + "payments/"
)

// Next gives a page of the desk that a query asks for, as a path with a query: Desk for everything else, so that nobody
// is led to another site.
func Next(asked string) string {
	u, err := url.Parse(asked)
	if err != nil || u.Scheme != "" || u.Host != "" || u.User != nil || u.Fragment != "" || u.Opaque != "" ||
		strings.ContainsFunc(asked, func(r rune) bool { return r <= ' ' || r == '\\' || r > '~' }) ||
		path.Clean(u.Path) != u.Path || !OnDesk(u.Path) {
		return Desk
	}
	return u.RequestURI()
}

// OnDesk reports whether a path is one of the desk.
func OnDesk(at string) bool { return at == Desk || strings.HasPrefix(at, Desk+"/") }

// At puts values in the places of a pattern: At(Deposit, "dep_1") is /dashboard/deposits/dep_1. At panics if the
// pattern has fewer or more places than there are values.
func At(pattern string, values ...string) string {
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

// URL is the address of a page. base is DASHBOARD_BASE_URL, with a slash at its end or without one.
func URL(base, path string) string { return strings.TrimSuffix(base, "/") + path }

// CheckoutURL is the address of a checkout. Every answer about a deposit may hold one, so it costs a single string.
func CheckoutURL(base, token string) string {
	return strings.TrimSuffix(base, "/") + Checkouts + "/" + token
}
