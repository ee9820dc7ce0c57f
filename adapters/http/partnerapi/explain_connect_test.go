package partnerapi_test

import (
	"context"
	"encoding/base64"
	"encoding/hex"
	"net/url"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/postgres"
	"partnerdeposits/core/id"
)

func TestExplainConnectURL_NamesTheCauseOfEachMistake(t *testing.T) {
	t.Parallel()
	r := newReceiver(t)
	const ext, month = "hotel 47+11/ä", 31 * 24 * time.Hour
	at := func(d time.Duration) string { return strconv.FormatInt(r.now.Add(d).Unix(), 10) }
	of := func(slug, ext, ts, sig string) string {
		return "https://dashboard.test/register?" +
			url.Values{"partner": {slug}, "external_id": {ext}, "ts": {ts}, "sig": {sig}}.Encode()
	}
	message := "acme." + ext + "." + r.ts
	good := signed(r.connect, message)
	raw, err := hex.DecodeString(good)
	require.NoError(t, err)
	with := func(sig string) string { return of("acme", ext, r.ts, sig) }
	for name, c := range map[string]struct{ url, want string }{
		"nothing":            {with(good), "valid"},
		"other parameters":   {with(good) + "&email=a%40b.example&return_url=https%3A%2F%2Fa.example#x", "valid"},
		"no sig":             {of("acme", ext, r.ts, ""), "missing_parameter"},
		"no partner":         {"https://dashboard.test/register?external_id=a", "missing_parameter"},
		"ts twice":           {with(good) + "&ts=" + r.ts, "malformed_parameter"},
		"ts as a date":       {of("acme", ext, "2026-06-02", good), "malformed_parameter"},
		"sig cut off":        {with(good[:40]), "malformed_parameter"},
		"a long external_id": {of("acme", strings.Repeat("a", 256), r.ts, good), "malformed_parameter"},
		"another slug":       {of("acme-pms", ext, r.ts, good), "wrong_partner"},
		"upper case":         {with(strings.ToUpper(good)), "upper_case"},
		"base64":             {with(base64.StdEncoding.EncodeToString(raw)), "base64"},
		"a prefix":           {with("sha256=" + good), "prefix_unexpected"},
		"an API key":         {with(signed(r.key, message)), "wrong_secret_kind"},
		"a signing secret":   {with(signed(r.secret, message)), "wrong_secret_kind"},
		"a secret without its prefix": {with(signed(strings.TrimPrefix(r.connect, "svc_cs_"), message)),
			"wrong_secret_kind"},
		"a secret with a line end": {with(signed(r.connect+"\n", message)), "secret_whitespace"},
		"a secret behind a BOM":    {with(signed("\ufeff"+r.connect, message)), "secret_whitespace"},
		"another order":            {with(signed(r.connect, ext+".acme."+r.ts)), "order"},
		"the time first":           {with(signed(r.connect, r.ts+".acme."+ext)), "order"},
		"without dots":             {with(signed(r.connect, "acme"+ext+r.ts)), "order"},
		"milliseconds": {of("acme", ext, r.ts+"123", signed(r.connect, message+"123")),
			"milliseconds"},
		"milliseconds in the message": {with(signed(r.connect, message+"000")), "milliseconds"},
		"milliseconds in the URL":     {of("acme", ext, r.ts+"000", good), "milliseconds"},
		"the time taken twice":        {of("acme", ext, at(2*time.Second), good), "ts_changed"},
		"ts padded":                   {of("acme", ext, "0"+r.ts, good), "ts_changed"},
		"encoded twice":               {of("acme", url.PathEscape(ext), r.ts, good), "encoding"},
		"signed as encoded":           {with(signed(r.connect, "acme."+url.QueryEscape(ext)+"."+r.ts)), "encoding"},
		"not encoded, so that + is a space": {strings.ReplaceAll(of("acme", "hotel+1", r.ts,
			signed(r.connect, "acme.hotel+1."+r.ts)), "%2B", "+"), "encoding"},
		"31 days old":    {of("acme", ext, at(-month), signed(r.connect, "acme."+ext+"."+at(-month))), "stale"},
		"31 days ahead":  {of("acme", ext, at(month), signed(r.connect, "acme."+ext+"."+at(month))), "future"},
		"another secret": {with(signed("svc_cs_other", message)), "mismatch"},
	} {
		answer := r.post("/connect/explain", object{"url": c.url})
		got := answer.ok(200)
		require.Equal(t, []any{c.want, c.want == "valid"}, []any{got["cause"], got["valid"]}, "%s: %v", name, got)
		require.NotContains(t, string(answer.body), good, name)
	}
	for url, but := range map[string]string{
		with(good):                  "The URL is valid.",
		with(good) + "&return_url=": "The URL is valid.",
		strings.Replace(with(good), "/register?", "/foo?", 1):    "it leads elsewhere",
		strings.Replace(with(good), "dashboard", "evil", 1):      "it leads elsewhere",
		with(good) + "&return_url=javascript%3Aalert":            "its return_url is not allowed",
		strings.Replace(with(good), "/register?", "/login?", 1):  "The URL is valid.",
		with(good) + "&return_url=https%3A%2F%2Fpms.example%2Fx": "The URL is valid.",
	} {
		message := text(t, r.post("/connect/explain", object{"url": url}).ok(200), "message")
		require.Contains(t, message, but, url)
		require.Equal(t, but == "The URL is valid.", message == "The URL is valid.", message)
	}
	undecodable := strings.Replace(of("acme", "hotel", r.ts, good), "hotel", "h%F4tel", 1)
	require.Contains(t, text(t, r.post("/connect/explain", object{"url": undecodable}).ok(200), "message"),
		"external_id, which is empty, or no UTF-8")
	parsed := parsedID(t, id.Account, text(t, r.get("/accounts").list()[0], "accountId"))
	r.revoke(id.Account.Of(parsed))
	before := at(-time.Hour)
	old := of("acme", "hotel-1", before, signed(r.connect, "acme.hotel-1."+before))
	require.Equal(t, "revoked", r.post("/connect/explain", object{"url": old}).ok(200)["cause"])
	r.Write(func(ctx context.Context, repos *postgres.Store) error {
		return repos.Partners.SetConnectSecret(ctx, r.partner.ID, "")
	})
	require.Equal(t, "missing_connect_secret", r.post("/connect/explain", object{"url": with(good)}).ok(200)["cause"])
}
