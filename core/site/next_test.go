package site_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/site"
)

func TestNext_IsAPageOfTheDesk(t *testing.T) {
	t.Parallel()
	for asked, want := range map[string]string{
		"/dashboard/deposits/dep_1":               "/dashboard/deposits/dep_1",
		"/dashboard/deposits?q=Lo%20pez&status=x": "/dashboard/deposits?q=Lo%20pez&status=x",
		"/dashboard/deposits?q=//evil.example":    "/dashboard/deposits?q=//evil.example", // a value
		"/dashboard":                              "/dashboard",
		"/dashboard?ends_by=2026-01-01":           "/dashboard?ends_by=2026-01-01",
		"/dashboard/~ann?q=!":                     "/dashboard/~ann?q=!",
	} {
		require.Equal(t, want, site.PathAfterLogIn(asked))
	}
	for _, asked := range []string{
		"", "/", "/login", "/dashboardx", "//evil.example/dashboard", "///dashboard", "https://evil.example/dashboard",
		"/dashboard/../logout", "/dashboard/%2e%2e/logout", "/dashboard/..%2flogout", "/dashboard//evil.example",
		`/dashboard\evil`, "/dashboard/\r\nSet-Cookie: x=y", "/dashboard/%0d%0a/..", " /dashboard", "/dashboard/é",
		"/dashboard/x#y", "javascript:alert(1)", "dashboard/x", "http:/dashboard/x", "/dashboard/%zz", "?next=/dashboard",
		"/\tdashboard", "@evil.example/dashboard", "/dashboard?q=a b", "/dashboard?q=\x7f",
	} {
		require.Equal(t, site.DashboardPath, site.PathAfterLogIn(asked), asked)
	}
}
