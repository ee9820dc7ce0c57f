package connect_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/actor"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
)

func TestLink_IsUsableUntilItIsRevoked(t *testing.T) {
	active, revoked := connect.Link{LinkedAt: now}, connect.Link{LinkedAt: now, RevokedAt: now}
	require.Equal(t, connect.LinkActive, active.Status())
	require.NoError(t, active.CheckUsable())
	require.Equal(t, connect.LinkRevoked, revoked.Status())
	require.ErrorIs(t, revoked.CheckUsable(), connect.ErrAccountLinkRevoked)
}

func TestVerified_NeedsTheTimeOfTheProof(t *testing.T) {
	require.False(t, connect.Operator{}.EmailVerified())
	require.True(t, connect.Operator{VerifiedAt: now}.EmailVerified())
}

func TestContact_IsAnAddressOrANumber_AndIsToldWithTheName(t *testing.T) {
	for contact, want := range map[string]string{
		"": "Chalets", "ada@b.example": "Chalets (ada@b.example)", "+33 6 12 34 56 78": "Chalets (+33 6 12 34 56 78)",
	} {
		require.True(t, connect.ValidContact(contact), contact)
		require.Equal(t, want, connect.Account{CompanyName: "Chalets", Contact: contact}.NameWithContact())
	}
	require.True(t, connect.ValidContact("(04) 50.00.00.00"))
	for _, contact := range []string{"x", "a@b", "https://evil.example", "call me: 0612345678", "+", "12345",
		"0123456789 \u202e1", "1\n2345678", strings.Repeat("1", 31), "a@b.example c@d.example"} {
		require.False(t, connect.ValidContact(contact), contact)
	}
	require.Equal(t, "Europe/Paris", connect.Account{Timezone: "Europe/Paris"}.Zone().String())
	require.Equal(t, actor.Operator(id.ID{7}), connect.Operator{ID: id.ID{7}}.Actor())
}

func TestValidLocale_IsALanguageOfThePages(t *testing.T) {
	for locale, want := range map[string]bool{"en": true, "fr": true, "": false, "de": false, "en-GB": false,
		"fr\x00": false, "EN": false} {
		require.Equal(t, want, connect.ValidLocale(locale), "%q", locale)
	}
}

func TestToken_Lifetimes(t *testing.T) {
	for kind, want := range map[connect.TokenKind]time.Duration{
		connect.TokenResetPassword: 30 * time.Minute, connect.TokenVerifyEmail: 24 * time.Hour,
		connect.TokenChangeEmail: 24 * time.Hour,
	} {
		require.Equal(t, want, kind.Lifetime(), kind)
	}
}

func TestToken_FitsItsOperatorAtTheAddressOfTheMail(t *testing.T) {
	o := connect.Operator{ID: id.ID{1}, Email: "Ada@b.example"}
	for name, c := range map[string]struct {
		token connect.MailedToken
		want  bool
	}{
		"the present address": {
			connect.MailedToken{OperatorID: id.ID{1}, Kind: connect.TokenVerifyEmail, Email: "Ada@b.example"}, true},
		"in other letters": {
			connect.MailedToken{OperatorID: id.ID{1}, Kind: connect.TokenResetPassword, Email: "ada@B.example"}, true},
		"a former address": {
			connect.MailedToken{OperatorID: id.ID{1}, Kind: connect.TokenResetPassword, Email: "old@b.example"}, false},
		"the address that replaces it": {
			connect.MailedToken{OperatorID: id.ID{1}, Kind: connect.TokenChangeEmail, Email: "new@b.example"}, true},
		"another operator": {
			connect.MailedToken{OperatorID: id.ID{2}, Kind: connect.TokenVerifyEmail, Email: "Ada@b.example"}, false},
		"another operator, new address": {
			connect.MailedToken{OperatorID: id.ID{2}, Kind: connect.TokenChangeEmail, Email: "new@b.example"}, false},
	} {
		require.Equal(t, c.want, c.token.UsableBy(o), name)
	}
}

func TestReturnSignature_IsHMACOverTheDottedResult(t *testing.T) {
	h := hmac.New(sha256.New, []byte("svc_cs_test"))
	h.Write([]byte("return:linked.acct_1.1790000000.op-1"))
	require.Equal(t, hex.EncodeToString(h.Sum(nil)),
		connect.SignReturnURL(key, connect.OutcomeLinked, "acct_1", "1790000000", "op-1"))
}
