package connect_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
)

// theirs are the secrets of the partner acme.
var theirs = connect.CandidateSecrets{Connect: "svc_cs_0123456789abcdef", API: "svc_pk_test_0123456789abcdef",
	Signing: map[id.ID]secret.Text{{1}: "svc_whsec_0123456789abcdef"}}

// digest is the signature of a message that need not be the right one.
func digest(key, message string) string {
	h := hmac.New(sha256.New, []byte(key))
	h.Write([]byte(message))
	return hex.EncodeToString(h.Sum(nil))
}

func TestExplain_NamesTheCauseOfEachMistake(t *testing.T) {
	t.Parallel()
	const ext, month = "hotel 47+11/ä", 31 * 24 * time.Hour
	ts := at(0)
	of := func(slug, ext, ts, sig string) string {
		return url.Values{"partner": {slug}, "external_id": {ext}, "ts": {ts}, "sig": {sig}}.Encode()
	}
	message := "acme." + ext + "." + ts
	ours := func(message string) string { return digest(theirs.Connect.Reveal(), message) }
	good := ours(message)
	raw, err := hex.DecodeString(good)
	require.NoError(t, err)
	with := func(sig string) string { return of("acme", ext, ts, sig) }
	for name, c := range map[string]struct {
		query string
		want  connect.RejectionCause
	}{
		"nothing":            {with(good), "valid"},
		"other parameters":   {with(good) + "&email=a%40b.example&return_url=https%3A%2F%2Fa.example", "valid"},
		"no sig":             {of("acme", ext, ts, ""), "missing_parameter"},
		"no partner":         {"external_id=a", "missing_parameter"},
		"ts twice":           {with(good) + "&ts=" + ts, "malformed_parameter"},
		"ts as a date":       {of("acme", ext, "2026-06-02", good), "malformed_parameter"},
		"sig cut off":        {with(good[:40]), "malformed_parameter"},
		"a long external_id": {of("acme", strings.Repeat("a", 256), ts, good), "malformed_parameter"},
		"another slug":       {of("acme-pms", ext, ts, good), "wrong_partner"},
		"upper case":         {with(strings.ToUpper(good)), "upper_case"},
		"base64":             {with(base64.StdEncoding.EncodeToString(raw)), "base64"},
		"a prefix":           {with("sha256=" + good), "prefix_unexpected"},
		"an API key":         {with(digest(theirs.API.Reveal(), message)), "wrong_secret_kind"},
		"a signing secret":   {with(digest(theirs.Signing[id.ID{1}].Reveal(), message)), "wrong_secret_kind"},
		"a secret without its prefix": {with(digest(strings.TrimPrefix(theirs.Connect.Reveal(), "svc_cs_"), message)),
			"wrong_secret_kind"},
		"a secret with a line end": {with(digest(theirs.Connect.Reveal()+"\n", message)), "secret_whitespace"},
		"a secret behind a BOM":    {with(digest("\ufeff"+theirs.Connect.Reveal(), message)), "secret_whitespace"},
		"another order":            {with(ours(ext + ".acme." + ts)), "order"},
		"the time first":           {with(ours(ts + ".acme." + ext)), "order"},
		"without dots":             {with(ours("acme" + ext + ts)), "order"},
		"milliseconds": {of("acme", ext, ts+"123", ours(message+"123")),
			"milliseconds"},
		"milliseconds in the message": {with(ours(message + "000")), "milliseconds"},
		"milliseconds in the URL":     {of("acme", ext, ts+"000", good), "milliseconds"},
		"the time taken twice":        {of("acme", ext, at(2*time.Second), good), "ts_changed"},
		"ts padded":                   {of("acme", ext, "0"+ts, good), "ts_changed"},
		"encoded twice":               {of("acme", url.PathEscape(ext), ts, good), "encoding"},
		"signed as encoded":           {with(ours("acme." + url.QueryEscape(ext) + "." + ts)), "encoding"},
		"not encoded, so that + is a space": {strings.ReplaceAll(of("acme", "hotel+1", ts,
			ours("acme.hotel+1."+ts)), "%2B", "+"), "encoding"},
		"31 days old":    {of("acme", ext, at(-month), ours("acme."+ext+"."+at(-month))), "stale"},
		"31 days ahead":  {of("acme", ext, at(month), ours("acme."+ext+"."+at(month))), "future"},
		"another secret": {with(digest("svc_cs_other", message)), "mismatch"},
	} {
		values, err := url.ParseQuery(c.query)
		require.NoError(t, err, name)
		_, got := connect.ExplainURL("acme", values, theirs, now)
		require.Equal(t, c.want, got.Cause, "%s: %s", name, got.Words)
		require.NotContains(t, got.Words, good, name)
	}
	values, err := url.ParseQuery(with(good))
	require.NoError(t, err)
	_, got := connect.ExplainURL("acme", values, connect.CandidateSecrets{API: theirs.API}, now)
	require.Equal(t, connect.CauseMissingSecret, got.Cause)
}
