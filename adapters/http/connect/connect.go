// Package connect serves the pages of partner connect and of plain sign-up and log-in (service.md, "Connect
// pages"; api.md §4). A GET never links an account to a partner; only a form with a valid CSRF token does.
package connect

import (
	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/accounts/connections"
	"partnerdeposits/app/accounts/operators"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/site"
	ports "partnerdeposits/ports/platform"
)

// Paths of the pages for sign-up, log-in, two-factor code, log-out and the end of a partner connect.
const (
	pathRegister  = site.RegisterPath
	pathLogin     = site.LogInPath
	pathCode      = site.TwoFactorCodePath
	pathLogout    = site.LogOutPath
	pathDone      = site.ConnectDonePath
	pathDashboard = site.DashboardPath
	pathForgot    = site.ForgotPasswordPath
)

type Deps struct {
	Connections       *connections.Service
	Operators         *operators.Service
	Limiter           ports.Limiter
	AttemptsPerMinute int // Allowed attempts per minute and network: AUTH_ATTEMPTS_PER_MINUTE.
	Site              *ui.SiteCookies
}

type pages struct{ Deps }

func Mount(app fiber.Router, d Deps) {
	p := &pages{Deps: d}
	app.Get(pathRegister, d.Site.PageMiddleware, p.showRegister)
	app.Post(pathRegister, d.Site.PageMiddleware, p.register)
	app.Get(pathLogin, d.Site.PageMiddleware, p.showLogin)
	app.Post(pathLogin, d.Site.PageMiddleware, p.logIn)
	app.Get(pathCode, d.Site.PageMiddleware, p.showCode)
	app.Post(pathCode, d.Site.PageMiddleware, p.code)
	app.Post(pathLogout, d.Site.PageMiddleware, p.logOut)
	app.Get(pathDone, d.Site.PageMiddleware, p.done)
}

// limit counts an attempt to sign up or log in against the client network's rate limit, or returns rate_limited.
// No limit per e-mail address: anybody could lock an operator out. harmless takes the count back after a success.
func (p *pages) limit(c *fiber.Ctx) (harmless func(), err error) {
	rule := ports.LimitRule{Name: "auth-address", Key: "auth:address:" + ui.NetworkOfIP(c.IP()),
		PerMinute: p.AttemptsPerMinute}
	decision := p.Limiter.Allow(c.UserContext(), rule)
	if !decision.Allowed {
		return nil, fault.ErrRateLimited.WithRetryAfter(decision.RetryAfter)
	}
	return func() { p.Limiter.Uncount(c.UserContext(), rule) }, nil
}

func (p *pages) browserOf(c *fiber.Ctx) connections.Browser {
	return connections.Browser{Session: p.Site.SessionToken(c), Network: ui.NetworkOfIP(c.IP()), Name: ui.BrowserOf(c)}
}
