package totp_test

import (
	"encoding/base32"
	"testing"
	"time"

	"github.com/pquerna/otp"
	reference "github.com/pquerna/otp/totp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/totp"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/twofactor"
	accountports "partnerdeposits/ports/accounts"
)

var _ accountports.OneTimeCodes = totp.CodeGenerator{}

// The values of RFC 6238, appendix B, with six digits.
func TestCode_IsThatOfTheRFC(t *testing.T) {
	t.Parallel()
	s := secret.Text(base32.StdEncoding.EncodeToString([]byte("12345678901234567890")))
	for seconds, want := range map[int64]string{59: "287082", 1111111109: "081804", 1234567890: "005924",
		20000000000: "353130"} {
		code, err := totp.CodeGenerator{}.Code(s, twofactor.CodePeriodNumberAt(time.Unix(seconds, 0)))
		require.NoError(t, err)
		require.Equal(t, want, code)
	}
}

func TestCode_OfATextThatIsNoSecret_IsAnError(t *testing.T) {
	t.Parallel()
	_, err := totp.CodeGenerator{}.Code("0189", 1)
	require.Error(t, err)
}

func TestURI_IsReadByApps(t *testing.T) {
	t.Parallel()
	s := twofactor.NewSecret([]byte("01234567890123456789"))
	key, err := otp.NewKeyFromURL(totp.CodeGenerator{}.EnrolmentURI(s, "a+b &c@example.com").Reveal())
	require.NoError(t, err)
	require.Equal(t, "Rental deposits", key.Issuer())
	require.Equal(t, "a+b &c@example.com", key.AccountName())
	require.Equal(t, s.Reveal(), key.Secret())
	now := time.Now()
	theirs, err := reference.GenerateCode(key.Secret(), now)
	require.NoError(t, err)
	ours, err := totp.CodeGenerator{}.Code(s, twofactor.CodePeriodNumberAt(now))
	require.NoError(t, err)
	require.Equal(t, theirs, ours)
}
