package site_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/site"
)

func TestAt_PutsEachValueInItsPlace(t *testing.T) {
	t.Parallel()
	require.Equal(t, "/dashboard", site.At(site.Desk))
	require.Equal(t, "/dashboard/deposits/dep_1/files/fil_2", site.At(site.File, "dep_1", "fil_2"))
	require.Equal(t, "/checkout/s3cret/return", site.At(site.CheckoutReturn, "s3cret"))
	require.Panics(t, func() { site.At(site.File, "dep_1") }, "a value is missing")
	require.Panics(t, func() { site.At(site.Deposit, "dep_1", "fil_2") }, "a value has no place")
}

func TestURL_HasOneSlashBetweenBaseAndPath(t *testing.T) {
	t.Parallel()
	require.Equal(t, "https://desk.example/login", site.URL("https://desk.example", site.LogIn))
	require.Equal(t, "https://desk.example/login", site.URL("https://desk.example/", site.LogIn))
	require.Equal(t, "https://desk.example/checkout/s3cret", site.CheckoutURL("https://desk.example/", "s3cret"))
}
