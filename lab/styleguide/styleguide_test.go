package styleguide_test

import (
	"os"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/lab/connecttest"
	"partnerdeposits/lab/servicetest"
)

func TestMain(m *testing.M) { servicetest.RunTests(m) }

func TestGuide_ShowsEveryComponent(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("guide.templ")
	require.NoError(t, err)
	files, err := os.ReadDir("../../adapters/http/ui")
	require.NoError(t, err)
	count := 0
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".templ") {
			continue
		}
		text, err := os.ReadFile("../../adapters/http/ui/" + f.Name())
		require.NoError(t, err)
		for _, found := range regexp.MustCompile(`(?m)^templ ([A-Z]\w*)\(`).FindAllStringSubmatch(string(text), -1) {
			count++
			if found[1] == "ErrorPage" { // a page of its own, which any unknown address shows
				continue
			}
			require.True(t, strings.Contains(string(source), "@ui."+found[1]+"("), "show the component %s in guide.templ",
				found[1])
		}
	}
	require.GreaterOrEqual(t, count, 10)
}

// A class of the stylesheet without a place in the guide is either forgotten here or used nowhere.
func TestGuide_ShowsEveryClassOfTheStylesheetInBothSchemes(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{})
	page := s.NewBrowser(t).Get("/styleguide")
	require.Equal(t, 200, page.Status)
	shown := map[string]int{}
	for _, found := range regexp.MustCompile(`class="([^"]*)"`).FindAllStringSubmatch(page.Body, -1) {
		for class := range strings.FieldsSeq(found[1]) {
			shown[class]++
		}
	}
	frame := []string{"skip", "top", "brand", "langs", "bottom", "desk", "wide"} // of the page around the components, once
	for _, found := range regexp.MustCompile(`\.([a-z][a-z-]*)`).FindAllStringSubmatch(
		regexp.MustCompile(`\{[^{}]*\}`).ReplaceAllString(ui.Stylesheet(), ""), -1) {
		least := 2
		for _, name := range frame {
			if found[1] == name {
				least = 1
			}
		}
		require.GreaterOrEqual(t, shown[found[1]], least, "show the class %s in guide.templ", found[1])
	}
	style := s.NewBrowser(t).Get("/styleguide/guide.css").Body
	require.Regexp(t,
		`(?s)\.light \{ color-scheme: light;\n  --ground: #f5f6f4;.*\.dark \{ color-scheme: dark;\n  --ground: #131917;`,
		style)
}

func TestMails_AreShownAsHTMLAndText_InEachLanguage(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{})
	b := s.NewBrowser(t)
	for mail, words := range map[string]string{"en": "Sunny Stays is now linked to your account",
		"fr": "Sunny Stays est maintenant relié à votre compte", "both": "account / Sunny Stays est"} {
		page := b.Get("/styleguide/mails?mail=" + mail)
		require.Equal(t, 200, page.Status)
		require.Contains(t, page.Body, words)
		require.Contains(t, page.Body, "<pre>")
		frame := regexp.MustCompile(`<iframe class="mail" src="([^"]*)"[^>]*sandbox="([^"]*)"`).FindStringSubmatch(page.Body)
		require.NotNil(t, frame)
		require.NotContains(t, frame[2], "allow-scripts")
		require.NotContains(t, frame[2], "allow-same-origin")
		require.Contains(t, page.Header.Get("Content-Security-Policy"), "frame-src 'self'")
		require.NotContains(t, page.Header.Get("Content-Security-Policy"), "unsafe")
		html := b.Get(frame[1])
		require.Equal(t, 200, html.Status)
		require.Contains(t, html.Body, `<table role="presentation"`)
		policy := html.Header.Get("Content-Security-Policy")
		for _, part := range []string{"default-src 'none'", "sandbox allow-top", "frame-ancestors 'self'",
			"form-action 'none'"} {
			require.Contains(t, policy, part)
		}
	}
	for _, path := range []string{"/styleguide/mails/en/999/html", "/styleguide/mails/en/-1/html",
		"/styleguide/mails/en/x/html"} {
		require.Equal(t, 404, b.Get(path).Status, path)
	}
}
