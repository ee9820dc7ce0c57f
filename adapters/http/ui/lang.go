package ui

import (
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"

	"github.com/gofiber/fiber/v2"
)

const (
	langParam  = "lang"
	langCookie = "lang"
	// subjectLangCookie holds the reader's language for one subject, such as a deposit, and the subject's digest,
	// until the browser closes.
	subjectLangCookie = "subject_lang"
)

type langKey struct{}

// LangOf returns the reader's language, from the first of: ?lang=, the locale of PreferLang, the language cookie,
// Accept-Language, English.
func LangOf(c *fiber.Ctx) Lang {
	if l, ok := c.Locals(langKey{}).(Lang); ok {
		return l
	}
	l := negotiate(c)
	c.Locals(langKey{}, l)
	return l
}

// PreferLang makes locale the language of the rest of the request, before the reader's cookie and browser
// (pages.md, "Forms and languages"). The reader's own choice by ?lang= comes first, also on later pages about the
// same subject, a secret of which the cookie holds only a digest.
func (s *SiteCookies) PreferLang(c *fiber.Ctx, locale, subject string) {
	sum := sha256.Sum256([]byte(subjectLangCookie + subject))
	digest := hex.EncodeToString(sum[:8])
	if l, ok := parseLang(c.Query(langParam)); ok {
		s.setCookie(c, s.cookieName(subjectLangCookie), string(l)+"."+digest, 0)
		return
	}
	chosen, about, _ := strings.Cut(c.Cookies(s.cookieName(subjectLangCookie)), ".")
	if about == digest {
		locale = chosen
	}
	if l, ok := parseLang(locale); ok {
		c.Locals(langKey{}, l)
	}
}

func negotiate(c *fiber.Ctx) Lang {
	if l, ok := parseLang(c.Query(langParam)); ok {
		return l
	}
	if l, ok := parseLang(c.Cookies(hostPrefix+langCookie, c.Cookies(langCookie))); ok {
		return l
	}
	return fromAcceptLanguage(c.Get(fiber.HeaderAcceptLanguage))
}

// parseLang returns the language of a tag by its primary subtag (fr-CA is French); false for an unsupported one.
func parseLang(tag string) (Lang, bool) {
	primary, _, _ := strings.Cut(strings.ToLower(strings.TrimSpace(tag)), "-")
	for _, l := range Langs {
		if primary == string(l) {
			return l, true
		}
	}
	return English, false
}

// fromAcceptLanguage returns the supported language of the highest weight in Accept-Language (RFC 9110, 12.5.4);
// the first of equal weights.
func fromAcceptLanguage(header string) Lang {
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
		if l, ok := parseLang(tag); ok && q > weight {
			best, weight = l, q
		}
	}
	return best
}

// switchQuery returns the query of a link to the same page in another language.
func switchQuery(raw string, l Lang) string {
	var kept []string
	for part := range strings.SplitSeq(raw, "&") {
		if key, _, _ := strings.Cut(part, "="); part != "" && key != langParam {
			kept = append(kept, part)
		}
	}
	return "?" + strings.Join(append(kept, langParam+"="+string(l)), "&")
}

// RawQuery returns the request's unparsed query for a link. Only bytes that a URL must not contain are escaped.
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

// PathWithQuery returns a path of this site with a raw query, if there is one.
func PathWithQuery(path, rawQuery string) string {
	if rawQuery == "" {
		return path
	}
	return path + "?" + rawQuery
}
