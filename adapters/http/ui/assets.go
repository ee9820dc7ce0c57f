package ui

import (
	"crypto/sha256"
	"embed"
	"encoding/hex"
	"io/fs"
	"regexp"
	"strings"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/core/site"
)

// files are those of the stylesheet: the scale, what all pages share, and the screens, a file each.
//
//go:embed assets/css
var files embed.FS

// stylesheet joins them, the screens last: their rules win over those of all pages.
var stylesheet = joined("assets/css/scale.css", "assets/css/parts/*.css", "assets/css/screens/*.css")

func joined(patterns ...string) (all []byte) {
	for _, pattern := range patterns {
		names, _ := fs.Glob(files, pattern) // fails for a malformed pattern alone
		for _, name := range names {
			part, err := files.ReadFile(name)
			if err != nil {
				panic("ui: " + err.Error())
			}
			all = append(all, part...)
		}
	}
	return all
}

// favicon is the picture of the layout's icon, for browsers that ask for site.Icon by themselves.
//
//go:embed assets/favicon.ico
var favicon []byte

// served is the stylesheet without comments and blanks, which each page would weigh.
var served = []byte(strings.NewReplacer("{ ", "{", " {", "{", " }", "}", "; ", ";", ": ", ":", ", ", ",").Replace(
	regexp.MustCompile(`(?s)/\*.*?\*/|\n *`).ReplaceAllString(string(stylesheet), "")))

// StylesheetPath is the path of the stylesheet. The path contains a hash of the content, so browsers may cache it for
// ever.
var StylesheetPath = func() string {
	sum := sha256.Sum256(served)
	return site.Assets + "/app-" + hex.EncodeToString(sum[:6]) + ".css"
}()

// Stylesheet is the text of the stylesheet, from which the style guide takes the colours of both schemes.
func Stylesheet() string { return string(stylesheet) }

// MountAssets serves the stylesheet and the icon.
func MountAssets(app fiber.Router) {
	app.Get(StylesheetPath, func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderContentType, "text/css; charset=utf-8")
		c.Set(fiber.HeaderCacheControl, "public, max-age=31536000, immutable")
		c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
		return c.Send(served)
	})
	app.Get(site.Icon, func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderContentType, "image/x-icon")
		c.Set(fiber.HeaderCacheControl, "public, max-age=86400")
		c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
		return c.Send(favicon)
	})
}
