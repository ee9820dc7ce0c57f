package connect_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
)

const key = secret.Text("svc_cs_test")

var now = time.Unix(1_790_000_000, 0)

func signed(slug, ext, ts string) connect.URLParams {
	return connect.URLParams{Partner: slug, ExternalID: ext, TS: ts, Sig: connect.SignURL(key, slug, ext, ts)}
}

func at(d time.Duration) string { return strconv.FormatInt(now.Add(d).Unix(), 10) }

func TestSign_IsHMACOverTheDottedPayload(t *testing.T) {
	h := hmac.New(sha256.New, []byte("svc_cs_test"))
	h.Write([]byte("demo.op-1.1790000000"))
	require.Equal(t, hex.EncodeToString(h.Sum(nil)), connect.SignURL(key, "demo", "op-1", "1790000000"))
}

func TestVerify(t *testing.T) {
	upper := signed("demo", "op", at(0))
	upper.Sig = strings.ToUpper(upper.Sig)
	otherTS := signed("demo", "op", at(0))
	otherTS.TS += ".0"
	leadingZero := signed("demo", "op", at(0))
	leadingZero.TS = "0" + leadingZero.TS
	withAPIKey := signed("demo", "op", at(0))
	withAPIKey.Sig = connect.SignURL("svc_pk_test_x", "demo", "op", at(0))
	wrongOrder := signed("demo", "op", at(0))
	wrongOrder.Sig = connect.SignURL(key, "op", "demo", at(0))
	cases := []struct {
		name string
		p    connect.URLParams
		want error
	}{
		{"good", signed("demo", "op", at(0)), nil},
		{"dots in the external id", signed("demo", "a.b.c", at(0)), nil},
		{"zero-padded and signed so", signed("demo", "op", "0"+at(0)), nil},
		{"last second of the window", signed("demo", "op", at(-connect.TimestampTolerance)), nil},
		{"a second too old", signed("demo", "op", at(-connect.TimestampTolerance-time.Second)), connect.ErrURLExpired},
		{"last second ahead", signed("demo", "op", at(connect.TimestampTolerance)), nil},
		{"a second too far ahead", signed("demo", "op", at(connect.TimestampTolerance+time.Second)), connect.ErrURLExpired},
		{"milliseconds", signed("demo", "op", at(0)+"000"), connect.ErrURLExpired},
		{"nineteen nines", signed("demo", "op", "9999999999999999999"), connect.ErrURLExpired},
		{"twenty digits", signed("demo", "op", "10000000000000000000"), connect.ErrInvalidSignature},
		{"zero", signed("demo", "op", "0"), connect.ErrURLExpired},
		{"with a sign", signed("demo", "op", "+"+at(0)), connect.ErrInvalidSignature},
		{"in Arabic digits", signed("demo", "op", "١٧٩٠٠٠٠٠٠٠"), connect.ErrInvalidSignature},
		{"negative", signed("demo", "op", "-5"), connect.ErrInvalidSignature},
		{"decimal suffix, signed", signed("demo", "op", at(0)+".0"), connect.ErrInvalidSignature},
		{"ts is not the signed one", otherTS, connect.ErrInvalidSignature},
		{"ts padded after signing", leadingZero, connect.ErrInvalidSignature},
		{"upper-case sig", upper, connect.ErrInvalidSignature},
		{"api key as secret", withAPIKey, connect.ErrInvalidSignature},
		{"wrong order", wrongOrder, connect.ErrInvalidSignature},
		{"no external id", signed("demo", "", at(0)), connect.ErrInvalidSignature},
		{"an external id of 255 bytes", signed("demo", strings.Repeat("x", 255), at(0)), nil},
		{"an external id of 256 bytes", signed("demo", strings.Repeat("x", 256), at(0)), connect.ErrInvalidSignature},
		{"no sig", connect.URLParams{Partner: "demo", ExternalID: "op", TS: at(0)}, connect.ErrInvalidSignature},
		{"no ts", signed("demo", "op", ""), connect.ErrInvalidSignature},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) { require.ErrorIs(t, c.p.Verify(key, now), c.want) })
	}
}

func TestCheckRevocation_ComparesWholeSeconds(t *testing.T) {
	p := signed("demo", "op", at(0))
	for revokedAt, want := range map[time.Time]error{
		{}:                              nil,
		now.Add(-time.Second):           nil,
		now:                             nil,
		now.Add(999 * time.Millisecond): nil,
		now.Add(time.Second):            connect.ErrURLExpired,
		now.Add(20 * 24 * time.Hour):    connect.ErrURLExpired,
		now.Add(-20 * 24 * time.Hour):   nil,
	} {
		require.ErrorIs(t, p.CheckRevocation(revokedAt), want, revokedAt)
	}
}

func TestDecide(t *testing.T) {
	link := &connect.Link{PartnerID: id.ID{1}, ExternalID: "x"}
	already, err := connect.CheckNewLink(nil, id.ID{1}, "x")
	require.NoError(t, err)
	require.False(t, already)
	already, err = connect.CheckNewLink(link, id.ID{1}, "x")
	require.NoError(t, err)
	require.True(t, already)
	_, err = connect.CheckNewLink(link, id.ID{2}, "x")
	require.ErrorIs(t, err, connect.ErrAlreadyLinked)
	_, err = connect.CheckNewLink(link, id.ID{1}, "y")
	require.ErrorIs(t, err, connect.ErrExternalIDConflict)
}

func TestSignUp_Validate(t *testing.T) {
	good := connect.SignUpForm{Email: "a@b.example", Password: "correct horse", CompanyName: "Chalets"}
	require.NoError(t, good.Validate())
	bad := good
	for password, want := range map[string]error{
		strings.Repeat("é", 10): nil, strings.Repeat("é", 200): nil, strings.Repeat("é", 9): connect.ErrInvalidPassword,
		strings.Repeat("é", 201): connect.ErrInvalidPassword, "correct\x00horse": connect.ErrInvalidPassword,
	} {
		bad.Password = password
		require.ErrorIs(t, bad.Validate(), want, "%q", password)
	}
	bad = good
	bad.CompanyName = strings.Repeat("é", 120)
	require.NoError(t, bad.Validate())
	for _, company := range []string{"  ", "Chalets\r\n\r\nYour account is locked: https://evil.example", "Chalets\u202e",
		"Chalets\u2028x", "Your bank: pay at https://evil.example/now", "Pay at HTTPS://evil.example",
		"Visit Www.evil.example", "WWW.evil", strings.Repeat("é", 121)} {
		bad.CompanyName = company
		require.ErrorIs(t, bad.Validate(), connect.ErrInvalidCompany, "%q", company)
	}
	bad = good
	bad.Email = "nope"
	require.ErrorIs(t, bad.Validate(), connect.ErrInvalidEmail)
}

func TestCheckRevocation_OfATimeThatIsNoNumber_IsExpired(t *testing.T) {
	require.ErrorIs(t, connect.URLParams{TS: "9999999999999999999"}.CheckRevocation(now), connect.ErrURLExpired)
}
