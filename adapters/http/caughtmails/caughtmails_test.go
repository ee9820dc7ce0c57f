package caughtmails_test

import (
	"context"
	"regexp"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/lab/connecttest"
	"partnerdeposits/lab/servicetest"
	ports "partnerdeposits/ports/platform"
)

func TestMain(m *testing.M) { servicetest.RunTests(m) }

// A caught mail has the words of strangers. They stay text on the page around it, and have no rights in its frame.
func TestCaughtMails_AreShownWithTheirLinks_AndRunNothing(t *testing.T) {
	t.Parallel()
	s := connecttest.New(t, connecttest.Options{})
	b := s.NewBrowser(t)
	require.Contains(t, b.Get("/sandbox/mails").Body, "No mails yet")
	const hostile = `<script>alert(1)</script>`
	s.RunInTransaction(func(ctx context.Context, r *postgres.Store) error {
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
