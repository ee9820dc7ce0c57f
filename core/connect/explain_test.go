package connect_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"math"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
)

// The connect URL of these tests is signed, and asked about, at explainedAt.
const (
	ownSecret = "svc_cs_EXAMPLE"
	signedTS  = "1780391667"
	hotel     = "hotel 47+11/ä"
	rightly   = "acme." + hotel + "." + signedTS // the message to sign
)

var explainedAt = time.Unix(1780391667, 0)

// by gives the signature of a message.
func by(key, message string) string {
	h := hmac.New(sha256.New, []byte(key))
	h.Write([]byte(message))
	return hex.EncodeToString(h.Sum(nil))
}

func explain(values map[string][]string, connectSecret secret.Text) connect.URLExplanation {
	_, found := connect.ExplainURL("acme", values,
		connect.CandidateSecrets{Connect: connectSecret, API: "svc_pk_test_EXAMPLE",
			Signing: map[id.ID]secret.Text{{1}: "svc_whsec_A", {2}: "svc_whsec_B"}}, explainedAt)
	return found
}

// urlOf gives the parameters of a connect URL.
func urlOf(externalID, ts, sig string) map[string][]string {
	return url.Values{"partner": {"acme"}, "external_id": {externalID}, "ts": {ts}, "sig": {sig}}
}

func TestExplain_OfAWrongForm_NamesTheParameter(t *testing.T) {
	t.Parallel()
	good := by(ownSecret, rightly)
	raw, err := hex.DecodeString(good)
	require.NoError(t, err)
	in64 := base64.StdEncoding.EncodeToString(raw)
	long := strings.Repeat("a", 255)
	for name, c := range map[string]struct {
		parameter string
		values    []string
		want      connect.RejectionCause
		words     string
	}{
		"nothing":                {"sig", []string{good}, connect.CauseValid, "The URL is valid."},
		"no partner":             {"partner", nil, connect.CauseMissingParameter, "It is partner."},
		"no external_id":         {"external_id", nil, connect.CauseMissingParameter, "It is external_id."},
		"an empty ts":            {"ts", []string{""}, connect.CauseMissingParameter, "It is ts, which is empty"},
		"two times":              {"ts", []string{"", ""}, connect.CauseMalformedParameter, "ts stands there more than once"},
		"another slug":           {"partner", []string{"acme-pms"}, connect.CauseWrongPartner, "Your slug is acme."},
		"external_id, 255 bytes": {"external_id", []string{long}, connect.CauseSignatureMismatch, ""},
		"external_id, 256 bytes": {"external_id", []string{long + "a"}, connect.CauseMalformedParameter, "255 bytes"},
		"base64":                 {"sig", []string{in64}, connect.CauseBase64Signature, ""},
		"base64 with a prefix":   {"sig", []string{"sha256=" + in64}, connect.CauseBase64Signature, ""},
		"a prefix":               {"sig", []string{"sha256=" + good}, connect.CausePrefixedSignature, ""},
		"upper case":             {"sig", []string{strings.ToUpper(good)}, connect.CauseUpperCaseSignature, ""},
		"sig cut off":            {"sig", []string{good[:40]}, connect.CauseMalformedParameter, "64 lower-case hex"},
		"ts as a date":           {"ts", []string{"2026-06-02"}, connect.CauseMalformedParameter, "Unix seconds"},
	} {
		values := urlOf(hotel, signedTS, good)
		values[c.parameter] = c.values
		found := explain(values, ownSecret)
		require.Equal(t, c.want, found.Cause, "%s: %s", name, found.Words)
		require.Contains(t, found.Words, c.words, name)
	}
	require.Equal(t, connect.CauseMissingSecret, explain(urlOf(hotel, signedTS, good), "").Cause)
	require.Equal(t, connect.CauseLinkRevoked, connect.ExplainRevokedLink().Cause)
}

func TestExplain_OfASignature_TellsHowItWasMade(t *testing.T) {
	t.Parallel()
	seconds := func(distance int64) string { return strconv.FormatInt(explainedAt.Unix()+distance, 10) }
	const month = 31 * 24 * 60 * 60
	for _, c := range []struct {
		want     connect.RejectionCause
		ts       string
		messages []string // signed with the right secret
	}{
		{connect.CauseWrongSigningOrder, signedTS, []string{hotel + ".acme." + signedTS, signedTS + ".acme." + hotel,
			"acme." + signedTS + "." + hotel, hotel + "." + signedTS + ".acme", signedTS + "." + hotel + ".acme",
			"acme" + hotel + signedTS, "acme:" + hotel + ":" + signedTS, "acme," + hotel + "," + signedTS,
			"external_id=hotel+47%2B11%2F%C3%A4&partner=acme&ts=" + signedTS,
			"partner=acme&external_id=" + hotel + "&ts=" + signedTS, hotel + "." + signedTS, "acme." + hotel}},
		{connect.CauseMillisecondTimestamp, signedTS, []string{rightly + "000", rightly + "123", rightly + "999"}},
		{connect.CauseMillisecondTimestamp, signedTS + "123", []string{rightly, rightly + "123"}},
		{connect.CauseTSChanged, signedTS, []string{"acme." + hotel + "." + seconds(-120),
			"acme." + hotel + "." + seconds(120), "acme." + hotel + ".0" + signedTS, rightly + ".0"}},
		{connect.CauseTSChanged, "0" + signedTS, []string{rightly}},
		{connect.CauseTSChanged, signedTS + "12", []string{rightly}},
		{connect.CauseExternalIDEncoding, signedTS, []string{"acme.hotel+47%2B11%2F%C3%A4." + signedTS,
			"acme.hotel%2047+11%2F%C3%A4." + signedTS, "acme.hotel%2047%2B11%2F%C3%A4." + signedTS,
			"acme.hotel+47+11/ä." + signedTS, "acme.hotel 47 11/ä." + signedTS, "acme.hotel%2047+11/ä." + signedTS,
			"acme." + hotel + "\n." + signedTS}},
		{connect.CauseSignatureMismatch, signedTS, []string{"acme." + hotel + "." + seconds(-121),
			"acme." + hotel + "." + seconds(121), "acme." + strings.ToUpper(hotel) + "." + signedTS, rightly + "1000"}},
		{connect.CauseStaleTimestamp, seconds(-month), []string{"acme." + hotel + "." + seconds(-month)}},
		{connect.CauseFutureTimestamp, seconds(month), []string{"acme." + hotel + "." + seconds(month)}},
		{connect.CauseFutureTimestamp, strings.Repeat("9", 19), []string{"acme." + hotel + "." + strings.Repeat("9", 19)}},
	} {
		for _, message := range c.messages {
			found := explain(urlOf(hotel, c.ts, by(ownSecret, message)), ownSecret)
			require.Equal(t, c.want, found.Cause, "%s, read with %s", message, c.ts)
		}
	}
	for key, want := range map[string]connect.RejectionCause{
		"svc_whsec_A": connect.CauseWrongSecretKind, "svc_whsec_B": connect.CauseWrongSecretKind,
		"svc_pk_test_EXAMPLE": connect.CauseWrongSecretKind, "": connect.CauseWrongSecretKind,
		"EXAMPLE": connect.CauseWrongSecretKind, ownSecret + "\n": connect.CauseSecretWhitespace,
		"\ufeff" + ownSecret: connect.CauseSecretWhitespace, "svc_cs_OTHER": connect.CauseSignatureMismatch,
	} {
		require.Equal(t, want, explain(urlOf(hotel, signedTS, by(key, rightly)), ownSecret).Cause, "%q", key)
	}
	for _, read := range []string{"hotel%201", " hotel 1"} { // encoded or padded in the URL, and signed as it is
		require.Equal(t, connect.CauseExternalIDEncoding,
			explain(urlOf(read, signedTS, by(ownSecret, "acme.hotel 1."+signedTS)), ownSecret).Cause, read)
	}
}

func TestExplain_OfTheLargestTimes_Ends(t *testing.T) {
	t.Parallel()
	sig := strings.Repeat("a", 64)
	for _, ts := range []int64{math.MaxInt64, math.MaxInt64 - 120, math.MaxInt64 - 121, math.MaxInt64 - 240, 0} {
		require.Equal(t, connect.CauseSignatureMismatch, explain(urlOf(hotel, strconv.FormatInt(ts, 10), sig),
			ownSecret).Cause, ts)
	}
	require.Equal(t, connect.CauseSignatureMismatch, explain(urlOf(hotel, strings.Repeat("9", 19), sig), ownSecret).Cause)
}
