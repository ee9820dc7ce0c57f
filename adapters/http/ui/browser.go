package ui

import (
	"strings"

	"github.com/gofiber/fiber/v2"
)

// The words by which User-Agent tells programs and systems. The first that occurs counts: most programs name others
// too.
var (
	programs = [][2]string{
		{"Edg", "Edge"}, {"OPR/", "Opera"}, {"SamsungBrowser", "Samsung Internet"}, {"Firefox/", "Firefox"},
		{"FxiOS", "Firefox"}, {"CriOS", "Chrome"},
		{"Chrome/", "Chrome"}, {"Safari/", "Safari"},
	}
	systems = [][2]string{
		{"iPhone", "iPhone"}, {"iPad", "iPad"}, {"Android", "Android"}, {"Windows", "Windows"}, {"Mac OS X", "Mac"},
		{"CrOS", "ChromeOS"}, {"Linux", "Linux"},
	}
)

// BrowserOf names the browser of a request by its program and system, as "Firefox, Linux"; "" for a browser that is not
// known. Nothing else of User-Agent is kept.
func BrowserOf(c *fiber.Ctx) string {
	agent := c.Get(fiber.HeaderUserAgent)
	var names []string
	for _, known := range [][][2]string{programs, systems} {
		for _, k := range known {
			if strings.Contains(agent, k[0]) {
				names = append(names, k[1])
				break
			}
		}
	}
	return strings.Join(names, ", ")
}
