package signin

import (
	"crypto/sha256"
	"errors"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/app/platform/mails"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/twofactor"
	accountports "partnerdeposits/ports/accounts"
	ports "partnerdeposits/ports/platform"
)

var now = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

func TestLockedOut_BeyondTheLimitOfFailures_FromAnUnknownNetwork(t *testing.T) {
	t.Parallel()
	beyond := ports.LimitDecision{RetryAfter: 20 * time.Minute}
	for name, c := range map[string]struct {
		decision ports.LimitDecision
		known    bool
		want     error
	}{
		"within the limit":                   {ports.LimitDecision{Allowed: true}, false, nil},
		"within the limit, from a known one": {ports.LimitDecision{Allowed: true}, true, nil},
		"beyond, from a network signed in":   {beyond, true, nil},
		"beyond, from a network never seen":  {beyond, false, fault.ErrRateLimited},
	} {
		err := lockedOut(c.decision, c.known)
		require.ErrorIs(t, err, c.want, name)
		if c.want != nil {
			require.Equal(t, 20*time.Minute, fault.FromError(err).RetryAfter, name)
		}
	}
}

func TestTry_ThatDidNotEndInAWrongCode_CostsNothing(t *testing.T) {
	t.Parallel()
	for err, want := range map[error]bool{
		nil: false, twofactor.ErrWrongCode: true, twofactor.ErrWrongCode.WithCause(errors.New("used")): true,
		twofactor.ErrSignInExpired: false, fault.ErrUnavailable: false, errors.New("broken"): false,
	} {
		require.Equal(t, want, costs(err), "%v", err)
	}
}

func TestSession_LastsFourteenDays_AndAHalfSignInFiveMinutes(t *testing.T) {
	t.Parallel()
	hash := [32]byte{1}
	require.Equal(t, accountports.Session{
		TokenHash: hash, OperatorID: id.ID{2}, Browser: "Firefox, Linux", CreatedAt: now, LastSeenAt: now,
		ExpiresAt: now.AddDate(0, 0, 14),
	}, newSession(hash, id.ID{2}, Browser{Session: "before", Network: "192.0.2.7", Name: "Firefox, Linux"}, now),
		"the network is kept apart, as a hash")
	require.Equal(t, accountports.HalfSignIn{TokenHash: hash, OperatorID: id.ID{2}, CreatedAt: now,
		ExpiresAt: now.Add(5 * time.Minute)}, newHalf(hash, id.ID{2}, now))
}

func TestSamePassword_RefusesOneThatWasChangedSinceItWasChecked(t *testing.T) {
	t.Parallel()
	seen := connect.Operator{PasswordHash: "old", Email: "a@b.example"}
	require.NoError(t, samePassword(connect.Operator{PasswordHash: "old", Email: "new@b.example"}, seen))
	require.ErrorIs(t, samePassword(connect.Operator{PasswordHash: "new", Email: "a@b.example"}, seen),
		connect.ErrBadCredentials)
}

func TestTokenHash_OfATextThatCanBeAToken(t *testing.T) {
	t.Parallel()
	token := strings.Repeat("A", 43)
	hash, ok := TokenHash(token)
	require.True(t, ok)
	require.Equal(t, sha256.Sum256([]byte(token)), hash)
	for _, none := range []string{"", "x", token[1:], token + "A", strings.Repeat("A", 4000)} {
		hash, ok = TokenHash(none)
		require.False(t, ok, none)
		require.Zero(t, hash)
	}
}

func TestNetworkHash_BelongsToItsOperator(t *testing.T) {
	t.Parallel()
	one, other := connect.Operator{ID: id.ID{1}}, connect.Operator{ID: id.ID{2}}
	require.Equal(t, networkHash(one, "192.0.2.7"), networkHash(one, "192.0.2.7"))
	require.NotEqual(t, networkHash(one, "192.0.2.7"), networkHash(other, "192.0.2.7"))
	require.NotEqual(t, networkHash(one, "192.0.2.7"), networkHash(one, "192.0.2.8"))
}

func TestOpen_WhereMailsAreSent_UntilTheAddressIsVerified(t *testing.T) {
	t.Parallel()
	for name, c := range map[string]struct {
		mails    bool
		verified time.Time
		want     bool
	}{
		"not verified": {true, time.Time{}, true}, "verified": {true, now, false}, "no mails": {false, time.Time{}, false},
		"no mails, verified": {false, now, false},
	} {
		require.Equal(t, c.want, MailTokens{Verify: c.mails}.HasUnverifiedEmail(connect.Operator{VerifiedAt: c.verified}),
			name)
	}
}

func TestLink_OfEachKind_LeadsToItsPage(t *testing.T) {
	t.Parallel()
	tokens := MailTokens{DashboardURL: "https://desk.example"}
	for kind, path := range map[connect.TokenKind]string{
		connect.TokenVerifyEmail: "/verify", connect.TokenChangeEmail: "/verify",
		connect.TokenResetPassword: "/password/reset",
	} {
		require.Equal(t, "https://desk.example"+path+"?token=a%2Bb", tokens.link(kind, secret.Text("a+b")), kind)
	}
	require.Len(t, tokenPaths, len(connect.TokenKinds), "every kind has a page")
}

func TestVerbs_NameEveryChangeOfTheSecondFactor(t *testing.T) {
	t.Parallel()
	require.Len(t, verbs, len(mails.TwoFactorChanges))
	for _, change := range mails.TwoFactorChanges {
		require.Equal(t, audit.Action("operator."+change), verbs[change])
	}
}
