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

// files holds the stylesheet in parts: sizes and colours, common rules, and a file for each screen.
//
//go:embed assets/css
var files embed.FS

// stylesheet is the whole CSS. The files of screens come last, so that their rules win.
var stylesheet = joined("assets/css/scale.css", "assets/css/parts/*.css", "assets/css/screens/*.css")

func joined(patterns ...string) (all []byte) {
	for _, pattern := range patterns {
		names, _ := fs.Glob(files, pattern) // The error is ignored: fs.Glob fails only for a malformed pattern.
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

//go:embed assets/favicon.ico
var favicon []byte

// served is the stylesheet without comments and superfluous blanks, to save bytes.
var served = []byte(strings.NewReplacer("{ ", "{", " {", "{", " }", "}", "; ", ";", ": ", ":", ", ", ",").Replace(
	regexp.MustCompile(`(?s)/\*.*?\*/|\n *`).ReplaceAllString(string(stylesheet), "")))

// StylesheetPath contains a hash of the stylesheet, so browsers may cache it for ever.
var StylesheetPath = func() string {
	sum := sha256.Sum256(served)
	return site.AssetsPath + "/app-" + hex.EncodeToString(sum[:6]) + ".css"
}()

// Stylesheet returns the CSS text, from which the style guide reads the colours.
func Stylesheet() string { return string(stylesheet) }

func MountAssets(app fiber.Router) {
	app.Get(StylesheetPath, func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderContentType, "text/css; charset=utf-8")
		c.Set(fiber.HeaderCacheControl, "public, max-age=31536000, immutable")
		c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
		return c.Send(served)
	})
	app.Get(site.FaviconPath, func(c *fiber.Ctx) error {
		c.Set(fiber.HeaderContentType, "image/x-icon")
		c.Set(fiber.HeaderCacheControl, "public, max-age=86400")
		c.Set(fiber.HeaderXContentTypeOptions, "nosniff")
		return c.Send(favicon)
	})
}
