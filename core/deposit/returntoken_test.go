package deposit_test

import (
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
)

func TestReturnToken_NamesItsDepositAndHidesTheCheckoutToken(t *testing.T) {
	const checkoutToken = secret.Text("checkout-token")
	token := deposit.ReturnPageToken(id.ID{1}, checkoutToken)
	require.Equal(t, token, deposit.ReturnPageToken(id.ID{1}, checkoutToken))
	require.NotContains(t, token.Reveal(), checkoutToken.Reveal())
	owner, ok := deposit.ParseReturnPageToken(token)
	require.True(t, ok)
	require.Equal(t, id.ID{1}, owner)
	require.NotEqual(t, token, deposit.ReturnPageToken(id.ID{1}, "another"))
	require.NotEqual(t, token, deposit.ReturnPageToken(id.ID{2}, checkoutToken))
	for _, none := range []secret.Text{"", checkoutToken, "dep_1.x", ".", "dep_.x"} {
		_, ok := deposit.ParseReturnPageToken(none)
		require.False(t, ok)
	}
}
