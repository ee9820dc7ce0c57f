package ui

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"

	"github.com/gofiber/fiber/v2"
)

// copyScript is the JavaScript of a page's copy buttons.
//
//go:embed assets/copy.js
var copyScript string

// copySource is the copy script's hash for the Content-Security-Policy, which forbids every other script.
var copySource = func() string {
	sum := sha256.Sum256([]byte(copyScript))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}()

// AllowCopying adds the script of the copy buttons to the page and, by its hash, to the Content-Security-Policy.
// Without scripts a page shows no copy button.
func (p *Page) AllowCopying(c *fiber.Ctx) {
	p.copies = true
	c.Set(fiber.HeaderContentSecurityPolicy, c.GetRespHeader(fiber.HeaderContentSecurityPolicy)+
		"; script-src "+copySource)
}
