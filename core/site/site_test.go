package site_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/site"
)

func TestAt_PutsEachValueInItsPlace(t *testing.T) {
	t.Parallel()
	require.Equal(t, "/dashboard", site.FillPath(site.DashboardPath))
	require.Equal(t, "/dashboard/deposits/dep_1/files/fil_2", site.FillPath(site.DepositFilePath, "dep_1", "fil_2"))
	require.Equal(t, "/checkout/s3cret/return", site.FillPath(site.CheckoutReturnPath, "s3cret"))
	require.Panics(t, func() { site.FillPath(site.DepositFilePath, "dep_1") }, "a value is missing")
	require.Panics(t, func() { site.FillPath(site.DepositPath, "dep_1", "fil_2") }, "a value has no place")
}

func TestURL_HasOneSlashBetweenBaseAndPath(t *testing.T) {
	t.Parallel()
	require.Equal(t, "https://desk.example/login", site.PageURL("https://desk.example", site.LogInPath))
	require.Equal(t, "https://desk.example/login", site.PageURL("https://desk.example/", site.LogInPath))
	require.Equal(t, "https://desk.example/checkout/s3cret", site.CheckoutURL("https://desk.example/", "s3cret"))
}
