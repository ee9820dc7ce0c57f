package ui

import (
	"strings"

	"github.com/gofiber/fiber/v2"
)

// programs and systems map words in a User-Agent to browsers and operating systems. The first that occurs counts,
// since most browsers name others too.
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

// BrowserOf returns browser and operating system of a request, such as "Firefox, Linux"; "" if unknown. Nothing
// else of the User-Agent is stored.
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
