package ui

import (
	"crypto/sha256"
	_ "embed"
	"encoding/base64"

	"github.com/gofiber/fiber/v2"
)

// copyScript lets the copy buttons of a page copy, and shows them.
//
//go:embed assets/copy.js
var copyScript string

// copySource names the script in a policy, which allows no other one.
var copySource = func() string {
	sum := sha256.Sum256([]byte(copyScript))
	return "'sha256-" + base64.StdEncoding.EncodeToString(sum[:]) + "'"
}()

// LetCopy gives the page the script of its copy buttons (CopyButton, Copyable), and allows it by its hash. Without
// scripts the page has no such button.
func (p *Page) LetCopy(c *fiber.Ctx) {
	p.copies = true
	c.Set(fiber.HeaderContentSecurityPolicy, c.GetRespHeader(fiber.HeaderContentSecurityPolicy)+
		"; script-src "+copySource)
}
