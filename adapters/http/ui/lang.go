package ui

import (
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"
)

const (
	langParam  = "lang"
	langCookie = "lang"
)

type langKey struct{}

// LangOf gives the language of the reader: ?lang=, else the cookie that it left, else Accept-Language, else English.
func LangOf(c *fiber.Ctx) Lang {
	if l, ok := c.Locals(langKey{}).(Lang); ok {
		return l
	}
	l := negotiate(c)
	c.Locals(langKey{}, l)
	return l
}

func negotiate(c *fiber.Ctx) Lang {
	if l, ok := known(c.Query(langParam)); ok {
		return l
	}
	if l, ok := known(c.Cookies(langCookie)); ok {
		return l
	}
	return accepted(c.Get(fiber.HeaderAcceptLanguage))
}

// known matches the primary subtag: fr-CA is French.
func known(tag string) (Lang, bool) {
	primary, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(tag)), "-")
	for _, l := range Langs {
		if primary == string(l) {
			return l, true
		}
	}
	return English, false
}

// accepted picks the known language with the highest weight (RFC 9110, 12.5.4), the first of equals.
func accepted(header string) Lang {
	best, weight := English, 0.0
	for part := range strings.SplitSeq(header, ",") {
		tag, params, _ := strings.Cut(part, ";")
		q := 1.0
		if _, value, found := strings.Cut(params, "q="); found {
			parsed, err := strconv.ParseFloat(strings.TrimSpace(value), 64)
			if err != nil || parsed < 0 || parsed > 1 {
				continue
			}
			q = parsed
		}
		if l, ok := known(tag); ok && q > weight {
			best, weight = l, q
		}
	}
	return best
}

// switchQuery gives the query of the same page in another language: all of raw as it is, but for the old choice.
func switchQuery(raw string, l Lang) string {
	var kept []string
	for part := range strings.SplitSeq(raw, "&") {
		if key, _, _ := strings.Cut(part, "="); part != "" && key != langParam {
			kept = append(kept, part)
		}
	}
	return "?" + strings.Join(append(kept, langParam+"="+string(l)), "&")
}

// RawQuery gives the query of the request as it came, fit for a link: bytes that no URL may hold are escaped, which
// changes what is written and not what is meant; all others stay as they are.
func RawQuery(c *fiber.Ctx) string {
	raw := string(c.Request().URI().QueryString())
	var b strings.Builder
	for i := range len(raw) {
		if ch := raw[i]; ch <= ' ' || ch >= 0x7f {
			b.WriteString("%" + strings.ToUpper(strconv.FormatUint(0x100+uint64(ch), 16))[1:])
		} else {
			b.WriteByte(ch)
		}
	}
	return b.String()
}

// WithQuery joins a path of ours and a raw query.
func WithQuery(path, rawQuery string) string {
	if rawQuery == "" {
		return path
	}
	return path + "?" + rawQuery
}
