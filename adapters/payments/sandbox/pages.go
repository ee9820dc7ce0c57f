package sandbox

import (
	"bytes"
	"crypto/sha256"
	_ "embed"
	"encoding/hex"
	"errors"
	"strings"
	"unicode/utf8"

	"github.com/gofiber/fiber/v2"
	"github.com/jackc/pgx/v5"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/site"
	paymentports "partnerdeposits/ports/payments"
)

const (
	langParam = "lang"

	fieldNumber  = "cardNumber"
	fieldExpiry  = "cardExpiry"
	fieldCVC     = "cardCvc"
	fieldIntent  = "intent"
	intentCancel = "cancel"

	// policy is the Content-Security-Policy of the sandbox's payment page. It has no form-action, which browsers
	// apply to redirects too.
	policy = "default-src 'none'; style-src 'self'; img-src data:; frame-ancestors 'none'; base-uri 'none'"
)

//go:embed assets/pay.css
var stylesheet []byte

var stylesheetPath = func() string {
	sum := sha256.Sum256(stylesheet)
	return site.SandboxAssetsPath + "/pay-" + hex.EncodeToString(sum[:6]) + ".css"
}()

// Mount adds the routes of the sandbox's payment page. Never call it in production.
func Mount(router fiber.Router, p *Provider) {
	router.Get(stylesheetPath, serveStylesheet)
	router.Get(site.SandboxPaymentPath, p.showPage)
	router.Post(site.SandboxPaymentPath, p.takeCard)
}

func serveStylesheet(c *fiber.Ctx) error {
	c.Set(fiber.HeaderContentType, "text/css; charset=utf-8")
	c.Set(fiber.HeaderCacheControl, "public, max-age=31536000, immutable")
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	return c.Send(stylesheet)
}

// showPage shows the card form of the sandbox, or redirects the tenant if nothing is left to pay.
func (p *Provider) showPage(c *fiber.Ctx) error {
	e, err := p.pageOf(c)
	if err != nil {
		return err
	}
	if !e.payable() {
		return c.Redirect(e.returnURL, fiber.StatusSeeOther)
	}
	return render(c, fiber.StatusOK, payView{entry: e, words: wordsOf(c)})
}

// takeCard handles payment or cancellation on the sandbox's page. A cancellation leaves the page open, as at
// real providers.
func (p *Provider) takeCard(c *fiber.Ctx) error {
	e, err := p.pageOf(c)
	if err != nil {
		return err
	}
	if !e.payable() || c.FormValue(fieldIntent) == intentCancel {
		return c.Redirect(e.returnURL, fiber.StatusSeeOther)
	}
	typed := card{number: c.FormValue(fieldNumber), expiry: c.FormValue(fieldExpiry), cvc: c.FormValue(fieldCVC)}
	if wrong := typed.check(p.clock.Now()); wrong != noMistake {
		return render(c, fiber.StatusUnprocessableEntity, payView{entry: e, words: wordsOf(c), wrong: wrong})
	}
	if err := p.end(c.UserContext(), endByRef, e.ref, typed.charge()); err != nil {
		return err
	}
	return c.Redirect(e.returnURL, fiber.StatusSeeOther)
}

// payable reports whether the payment page still takes a card.
func (e entry) payable() bool { return e.status == paymentports.ProviderPaymentOpen }

func (p *Provider) pageOf(c *fiber.Ctx) (entry, error) {
	secure(c)
	ref := c.Params("ref")
	if !strings.HasPrefix(ref, refPrefix) || strings.ContainsRune(ref, 0) || !utf8.ValidString(ref) {
		// No payment has such an address: Postgres stores neither a zero byte nor invalid UTF-8 in a text.
		return entry{}, fault.ErrRouteNotFound
	}
	e, err := p.byRef(c.UserContext(), ref)
	// Two kinds of payment have no payment page: a collection, and a payment that was closed before its page was
	// opened.
	if errors.Is(err, pgx.ErrNoRows) || (err == nil && e.returnURL == "") {
		return entry{}, fault.ErrRouteNotFound
	}
	return e, err
}

func secure(c *fiber.Ctx) {
	c.Set(fiber.HeaderContentSecurityPolicy, policy)
	c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
	c.Set(fiber.HeaderReferrerPolicy, "no-referrer")
	c.Set(fiber.HeaderCacheControl, "no-store")
}

func render(c *fiber.Ctx, status int, v payView) error {
	var b bytes.Buffer
	if err := payPage(v).Render(c.UserContext(), &b); err != nil {
		return err
	}
	c.Status(status)
	c.Set(fiber.HeaderContentType, fiber.MIMETextHTMLCharsetUTF8)
	return c.Send(b.Bytes())
}
