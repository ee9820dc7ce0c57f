package operators

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
	accountports "partnerdeposits/ports/accounts"
	ports "partnerdeposits/ports/platform"
)

var now = time.Date(2026, 11, 21, 10, 0, 0, 0, time.UTC)

func TestFits_OneOfTheKindsThatAPageTakes(t *testing.T) {
	t.Parallel()
	o := connect.Operator{ID: id.ID{1}, Email: "a@b.example"}
	verify := connect.MailedToken{OperatorID: id.ID{1}, Kind: connect.TokenVerifyEmail, Email: "a@b.example"}
	for name, c := range map[string]struct {
		token connect.MailedToken
		kinds []connect.TokenKind
		want  error
	}{
		"its kind":     {verify, []connect.TokenKind{connect.TokenVerifyEmail}, nil},
		"one of two":   {verify, []connect.TokenKind{connect.TokenChangeEmail, connect.TokenVerifyEmail}, nil},
		"another kind": {verify, []connect.TokenKind{connect.TokenResetPassword}, connect.ErrTokenVoid},
		"no kind":      {verify, nil, connect.ErrTokenVoid},
		"of a former address": {connect.MailedToken{OperatorID: id.ID{1}, Kind: connect.TokenResetPassword, Email: "old@b.example"},
			[]connect.TokenKind{connect.TokenResetPassword}, connect.ErrTokenVoid},
	} {
		require.ErrorIs(t, fits(c.token, o, c.kinds), c.want, name)
	}
}

func TestMails_OfAKind_AreFiveAnHour(t *testing.T) {
	t.Parallel()
	for sent, want := range map[int]error{0: nil, 4: nil, 5: fault.ErrRateLimited, 6: fault.ErrRateLimited} {
		err := mailAllowed(sent)
		require.ErrorIs(t, err, want, sent)
		if want != nil {
			require.Equal(t, time.Hour, fault.FromError(err).RetryAfter)
		}
	}
}

func TestStale_AfterHalfAnHour(t *testing.T) {
	t.Parallel()
	for age, want := range map[time.Duration]bool{0: false, 30 * time.Minute: false, 30*time.Minute + 1: true} {
		require.Equal(t, want, stale(accountports.PasswordResetRequest{CreatedAt: now.Add(-age)}, now), age)
	}
}

func TestFree_AnAddressOfNobodyOrOfTheOperator(t *testing.T) {
	t.Parallel()
	broken := errors.New("broken")
	for name, c := range map[string]struct {
		owner id.ID
		err   error
		want  error
	}{
		"nobody's":                     {id.ID{}, connect.ErrBadCredentials, nil},
		"the operator's, in new case":  {id.ID{1}, nil, nil},
		"another operator's":           {id.ID{2}, nil, connect.ErrEmailTaken},
		"not known: the store is away": {id.ID{}, broken, broken},
	} {
		require.ErrorIs(t, free(connect.Operator{ID: c.owner}, c.err, id.ID{1}), c.want, name)
	}
}

func TestUnchanged_SinceThePasswordWasChecked(t *testing.T) {
	t.Parallel()
	seen := connect.Operator{PasswordHash: "h", Email: "a@b.example"}
	for name, c := range map[string]struct {
		present connect.Operator
		want    error
	}{
		"the same":         {connect.Operator{PasswordHash: "h", Email: "a@b.example", Locale: "fr"}, nil},
		"another password": {connect.Operator{PasswordHash: "other", Email: "a@b.example"}, connect.ErrBadCredentials},
		"another address":  {connect.Operator{PasswordHash: "h", Email: "new@b.example"}, connect.ErrBadCredentials},
	} {
		require.ErrorIs(t, unchanged(c.present, seen), c.want, name)
	}
}

func TestMovedTo_ANewAddress_IsNotVerified(t *testing.T) {
	t.Parallel()
	before := connect.Operator{ID: id.ID{1}, Email: "a@b.example", PasswordHash: "h", Locale: "fr", VerifiedAt: now}
	require.Equal(t, connect.Operator{ID: id.ID{1}, Email: "new@b.example", PasswordHash: "h", Locale: "fr"},
		movedTo(before, "new@b.example"))
	require.Equal(t, "a@b.example", before.Email)
}

func TestWithPassword_ByALinkInAMail_VerifiesTheAddress(t *testing.T) {
	t.Parallel()
	earlier := now.Add(-time.Hour)
	for name, c := range map[string]struct {
		verified, want time.Time
		opens          bool
	}{
		"not verified": {time.Time{}, now, true}, "verified before": {earlier, earlier, false},
		"no mails are sent": {time.Time{}, time.Time{}, false},
	} {
		o := withPassword(connect.Operator{ID: id.ID{1}, PasswordHash: "old", VerifiedAt: c.verified}, "new", c.opens, now)
		require.Equal(t, connect.Operator{ID: id.ID{1}, PasswordHash: "new", VerifiedAt: c.want}, o, name)
	}
}

func TestSessions_AreNamedWithoutTheirToken_AndEndByTheirName(t *testing.T) {
	t.Parallel()
	token := strings.Repeat("A", 43)
	own := accountports.Session{TokenHash: sha256.Sum256([]byte(token)), Browser: "Firefox, Linux", CreatedAt: now,
		LastSeenAt: now.Add(1), ExpiresAt: now.Add(2)}
	other := accountports.Session{TokenHash: [32]byte{9}}
	shown := view(own, own.TokenHash)
	require.Equal(t, Session{Name: nameOf(own.TokenHash), Browser: "Firefox, Linux", CreatedAt: now,
		LastSeenAt: now.Add(1), ExpiresAt: now.Add(2), This: true}, shown)
	require.False(t, view(other, own.TokenHash).This)
	require.Regexp(t, "^[0-9a-f]{24}$", shown.Name)
	require.NotEqual(t, shown.Name, nameOf(other.TokenHash))
	for name, c := range map[string]struct {
		ends       func(accountports.Session) bool
		own, other bool
	}{
		"this one":                {named(shown.Name), true, false},
		"a name of none":          {named("x"), false, false},
		"every other":             {otherThan(token), false, true},
		"a browser without token": {otherThan(""), true, true},
	} {
		require.Equal(t, []bool{c.own, c.other}, []bool{c.ends(own), c.ends(other)}, name)
	}
}

func TestVerbs_NameEveryChangeOfAnAccount(t *testing.T) {
	t.Parallel()
	require.Len(t, verbs, len(mails.AccountChanges))
	for _, change := range mails.AccountChanges {
		require.Equal(t, audit.Action("operator.change_"+change), verbs[change])
	}
}

func TestDeskLimits_AreThoseOfTheSpecification_ForEachAccount(t *testing.T) {
	t.Parallel()
	account := id.Account.Of(id.ID{2})
	for _, c := range []struct {
		limit DashboardRateLimit
		want  ports.LimitRule
	}{
		{PageReadRateLimit, ports.LimitRule{Name: "desk-reads", Key: "desk:reads:" + account, PerMinute: 600}},
		{FormRateLimit, ports.LimitRule{Name: "desk-acts", Key: "desk:acts:" + account, PerMinute: 60}},
		{LinkMailRateLimit, ports.LimitRule{Name: "desk-mails", Key: "desk:mails:" + account, PerHour: 100}},
		{UploadRateLimit, ports.LimitRule{Name: "desk-files", Key: "desk:files:" + account, PerHour: 200}},
		{ExportRateLimit, ports.LimitRule{Name: "desk-exports", Key: "desk:exports:" + account, PerMinute: 30}},
		{PasswordCheckRateLimit, ports.LimitRule{Name: "desk-passwords", Key: "desk:passwords:" + account, PerHour: 20}},
	} {
		require.Equal(t, c.want, c.limit.RuleFor(id.ID{2}))
		require.NotEqual(t, c.want.Key, c.limit.RuleFor(id.ID{3}).Key, "each account has a count of its own")
	}
}
