package styleguide_test

import (
	"context"
	"os"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/adapters/postgres"
	"partnerdeposits/lab/connecttest"
	"partnerdeposits/lab/servicetest"
	ports "partnerdeposits/ports/platform"
)

func TestMain(m *testing.M) { servicetest.Main(m) }

func TestGuide_ShowsEveryComponent(t *testing.T) {
	t.Parallel()
	source, err := os.ReadFile("guide.templ")
	require.NoError(t, err)
	files, err := os.ReadDir("../ui")
	require.NoError(t, err)
	count := 0
	for _, f := range files {
		if !strings.HasSuffix(f.Name(), ".templ") {
			continue
		}
		text, err := os.ReadFile("../ui/" + f.Name())
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
	page := s.Browser(t).Get("/styleguide")
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
	style := s.Browser(t).Get("/styleguide/guide.css").Body
	require.Regexp(t,
		`(?s)\.light \{ color-scheme: light;\n  --ground: #f5f6f4;.*\.dark \{ color-scheme: dark;\n  --ground: #131917;`,
		style)
}

func TestMails_AreShownAsHTMLAndText_InEachLanguage(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{})
	b := s.Browser(t)
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

// A caught mail has the words of strangers. They stay text on the page around it, and have no rights in its frame.
func TestCaughtMails_AreShownWithTheirLinks_AndRunNothing(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{})
	b := s.Browser(t)
	require.Contains(t, b.Get("/sandbox/mails").Body, "No mails yet")
	const hostile = `<script>alert(1)</script>`
	s.Write(func(ctx context.Context, r *postgres.Store) error {
		for _, m := range []ports.Mail{
			{Subject: "Older " + hostile, Body: "plain " + hostile},
			{Subject: "Newer", Body: "Open this:\n" + s.DashboardURL + "/verify?token=abc\nhttps://evil.example/\n" + hostile,
				HTML: `<p><a href="` + s.DashboardURL + `/verify">x</a></p>` + hostile},
		} {
			m.ID, m.To, m.CreatedAt = servicetest.NewID(), "grace@example.com", s.Clock.Now()
			s.Clock.Add(time.Second)
			if err := r.Mails.Enqueue(ctx, m); err != nil {
				return err
			}
		}
		return nil
	})
	list := b.Get("/sandbox/mails")
	require.NotContains(t, list.Body, hostile)
	paths := regexp.MustCompile(`href="(/sandbox/mails/msg_[^"]*)"`).FindAllStringSubmatch(list.Body, -1)
	require.Len(t, paths, 2)
	newer := b.Get(paths[0][1])
	require.Contains(t, newer.Body, "Newer")
	require.NotContains(t, newer.Body, hostile)
	require.Contains(t, newer.Body, `href="`+s.DashboardURL+`/verify?token=abc"`)
	require.NotContains(t, newer.Body, `href="https://evil.example`, "only links of this service lead on")
	frame := b.Get(paths[0][1] + "/html")
	require.Contains(t, frame.Body, `<a target="_top" href=`)
	require.Contains(t, frame.Header.Get("Content-Security-Policy"), "default-src 'none'; style-src 'unsafe-inline'; ")
	require.Contains(t, frame.Header.Get("Content-Security-Policy"), "sandbox allow-top-navigation-by-user-activation")
	require.Equal(t, 404, b.Get(paths[1][1]+"/html").Status, "the older mail is plain text")
	require.Equal(t, 404, b.Get("/sandbox/mails/msg_nothing").Status)
}
