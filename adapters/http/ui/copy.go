package ui

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"

	"github.com/gofiber/fiber/v2"
)

// copyScript is the JavaScript that makes the copy buttons of a page visible and lets them copy.
//
//go:embed assets/copy.js
var copyScript string

// copySource is the hash of the copy script for the Content-Security-Policy, which forbids every other script.
var copySource = func() string {
	sum := sha256.Sum256([]byte(copyScript))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}()

// AllowCopying adds the script of the copy buttons (CopyButton, Copyable) to the page, and allows it in the
// Content-Security-Policy by its hash. In a browser without scripts the page shows no copy button.
func (p *Page) AllowCopying(c *fiber.Ctx) {
	p.copies = true
	c.Set(fiber.HeaderContentSecurityPolicy, c.GetRespHeader(fiber.HeaderContentSecurityPolicy)+
		"; script-src "+copySource)
}
