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

// files holds the stylesheet in parts: the scale of sizes and colours, the rules that all pages share, and a file
// for each screen.
//
//go:embed assets/css
var files embed.FS

// stylesheet is the whole CSS, joined from its parts. The files of screens come last, so that their rules win over
// those of all pages.
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

// favicon is the site's icon, for browsers that request /favicon.ico by themselves.
//
//go:embed assets/favicon.ico
var favicon []byte

// served is the stylesheet as it is sent to browsers: without comments and superfluous blanks, to save bytes.
var served = []byte(strings.NewReplacer("{ ", "{", " {", "{", " }", "}", "; ", ";", ": ", ":", ", ", ",").Replace(
	regexp.MustCompile(`(?s)/\*.*?\*/|\n *`).ReplaceAllString(string(stylesheet), "")))

// StylesheetPath is the URL path of the stylesheet. It contains a hash of the content, so browsers may cache the
// file for ever.
var StylesheetPath = func() string {
	sum := sha256.Sum256(served)
	return site.AssetsPath + "/app-" + hex.EncodeToString(sum[:6]) + ".css"
}()

// Stylesheet returns the text of the stylesheet, from which the style guide reads the colours of both colour
// schemes.
func Stylesheet() string { return string(stylesheet) }

// MountAssets registers the routes of the stylesheet and the icon.
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
