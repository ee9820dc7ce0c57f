// Package connect serves the pages of partner connect and of plain signup and login (service.md, "Connect pages";
// api.md §4). A GET never makes a link; only a form with a valid CSRF token does.
package connect

import (
	"crypto/sha256"
	"encoding/hex"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/connections"
	"partnerdeposits/app/operators"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/mailaddr"
	"partnerdeposits/ports"
)

// Paths of the pages.
const (
	pathRegister  = "/register"
	pathLogin     = "/login"
	pathLogout    = "/logout"
	pathDone      = "/connect/done"
	pathDashboard = "/dashboard"
)

// Deps are the dependencies of the pages.
type Deps struct {
	Connections       *connections.Service
	Operators         *operators.Service
	Limiter           ports.Limiter
	AttemptsPerMinute int // AUTH_ATTEMPTS_PER_MINUTE, per address and per e-mail
	Site              *ui.Site
}

type pages struct{ Deps }

// Mount adds the pages to app, which serves the dashboard's host.
func Mount(app fiber.Router, d Deps) {
	p := &pages{Deps: d}
	app.Get(pathRegister, d.Site.Headers, p.showRegister)
	app.Post(pathRegister, d.Site.Headers, p.register)
	app.Get(pathLogin, d.Site.Headers, p.showLogin)
	app.Post(pathLogin, d.Site.Headers, p.logIn)
	app.Post(pathLogout, d.Site.Headers, p.logOut)
	app.Get(pathDone, d.Site.Headers, p.done)
}

// limit counts an attempt to sign up or log in against the limits of the address and of the e-mail. The limiter sees a
// hash of the e-mail.
//
// Returns rate_limited.
func (p *pages) limit(c *fiber.Ctx, email string) error {
	decision := p.Limiter.Allow(c.UserContext(),
		ports.LimitRule{Name: "auth-address", Key: "auth:address:" + ui.NetworkOf(c.IP()), PerMinute: p.AttemptsPerMinute},
		ports.LimitRule{Name: "auth-email", Key: "auth:email:" + digest(mailaddr.Normal(email)), PerMinute: p.AttemptsPerMinute},
	)
	if decision.Allowed {
		return nil
	}
	return fault.ErrRateLimited.WithRetryAfter(decision.RetryAfter)
}

func digest(s string) string {
	sum := sha256.Sum256([]byte(s))
	return hex.EncodeToString(sum[:16])
}
