package deposits_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"strings"
	"testing"
	"time"

	deposits "partnerdeposits/sdk/go"
)

const signingSecret = "svc_whsec_q1w2e3r4t5y6u7i8o9p0a1s2d3f4g5h6"

func hash(secret, message string) string {
	mac := hmac.New(sha256.New, []byte(secret))
	mac.Write([]byte(message))
	return fmt.Sprintf("%x", mac.Sum(nil))
}

func TestUnwrap_GivesTheEventOfARequestOfNow(t *testing.T) {
	body := `{"event":"deposit.activated","createdAt":"2026-06-02T11:20:09.512Z",` +
		`"data":{"id":"dep_1","amountCents":50050,"version":3,"capturedAmountCents":12050},"new":1}`
	now := fmt.Sprint(time.Now().Unix())
	header := http.Header{}
	header.Set("X-Svc-Timestamp", now)
	header.Set("X-Svc-Signature", "sha256="+hash(signingSecret, now+"."+body))
	event, err := deposits.Unwrap([]byte(body), header, signingSecret)
	noError(t, err)
	equal(t, deposits.EventNameDepositActivated, event.Event)
	equal(t, time.Date(2026, 6, 2, 11, 20, 9, 512e6, time.UTC), event.CreatedAt)
	equal(t, body, string(event.Raw()))
	deposit, err := event.Data.Deposit()
	noError(t, err)
	equal(t, 50050, deposit.AmountCents)
	equal(t, 12050, deposit.CapturedAmountCents)
	equal(t, true, deposits.IsNewer(event, deposit.Version-1))
	equal(t, false, deposits.IsNewer(event, deposit.Version))
}

// TestUnwrap_SeeksNoCauseInALargeBody: what nobody signed must not cost seconds.
func TestUnwrap_SeeksNoCauseInALargeBody(t *testing.T) {
	header := http.Header{}
	header.Set("X-Svc-Timestamp", fmt.Sprint(time.Now().Unix()))
	header.Set("X-Svc-Signature", "sha256="+strings.Repeat("a", 64))
	for size, hint := range map[int]string{1 << 17: "body_reserialized", 1 << 20: ""} {
		_, err := deposits.Unwrap([]byte(`{ "event": "`+strings.Repeat("x", size)+`" }`), header, signingSecret)
		var refused *deposits.SignatureError
		if !errors.As(err, &refused) {
			t.Fatal(err)
		}
		equal(t, "mismatch", refused.Reason)
		equal(t, hint, refused.Hint)
	}
}

// TestSignatureError_NamesTheRemedy pins the words, which are those of all libraries.
func TestSignatureError_NamesTheRemedy(t *testing.T) {
	for reason, want := range map[string]string{
		"missing_header":      "X-Svc-Signature or X-Svc-Timestamp is missing.",
		"malformed_header":    "X-Svc-Signature or X-Svc-Timestamp is not in the form that we send.",
		"missing_parameter":   "A signed parameter of the return URL is missing.",
		"malformed_parameter": "A signed parameter of the return URL is not in the form that we send.",
		"expired":             "The timestamp is outside the tolerance.",
		"mismatch":            "The signature does not match.",
		"invalid_json":        "The body is not a JSON object.",
	} {
		equal(t, want, (&deposits.SignatureError{Reason: reason}).Error())
	}
	for hint, want := range map[string]string{
		"stale":             "It is in the past: check this server's clock, and that the request is not a replay.",
		"future":            "It is in the future: check this server's clock.",
		"milliseconds":      "It is in milliseconds: X-Svc-Timestamp is Unix seconds.",
		"body_reserialized": "The body was parsed and written again: pass the raw body.",
		"body_changed":      "The body is not what was sent: pass the raw body, unread and unchanged.",
		"wrong_secret_kind": "The secret is not a signing secret (svc_whsec_…).",
		"secret_whitespace": "The secret has white space around it.",
		"base64":            "The signature is base64: it must be lower-case hex.",
		"upper_case":        "The signature is in upper case: it must be lower-case hex.",
		"prefix_missing":    "The prefix sha256= is missing.",
		"order":             "The signed message is in another order: it is <timestamp>.<raw body>.",
	} {
		e := &deposits.SignatureError{Reason: "mismatch", Hint: hint}
		equal(t, "The signature does not match. "+want, e.Error())
	}
}

func TestConnectURL_SignsTheTimeOfNow(t *testing.T) {
	secret := "svc_cs_m5n6b7v8c9x0z1l2k3j4h5g6f7d8s9a0"
	p := deposits.ConnectParams{Slug: "acme-pms", Secret: secret, ExternalID: "hotel-4711"}
	link, err := deposits.ConnectURL("https://dashboard.example.com", p)
	noError(t, err)
	parts := regexp.MustCompile(`^https://dashboard\.example\.com/register\?partner=acme-pms&external_id=hotel-4711` +
		`&ts=(\d+)&sig=(\w+)$`).FindStringSubmatch(link)
	if parts == nil {
		t.Fatal(link)
	}
	equal(t, hash(secret, "acme-pms.hotel-4711."+parts[1]), parts[2])
	now := time.Now().Unix()
	if parts[1] != fmt.Sprint(now) && parts[1] != fmt.Sprint(now-1) {
		t.Errorf("%s at %d", parts[1], now)
	}
	p.Secret = "svc_pk_x"
	_, err = deposits.ConnectURL("https://dashboard.example.com", p)
	if err == nil || strings.Contains(err.Error(), "svc_pk_x") {
		t.Errorf("got %v", err)
	}
}

func TestVerifyReturn_TellsAnErrorOfItsOwnType(t *testing.T) {
	_, err := deposits.VerifyReturn("https://pms.example.com/?connectStatus=linked", "svc_cs_x")
	var refused *deposits.SignatureError
	if !errors.As(err, &refused) {
		t.Fatal(err)
	}
	equal(t, "missing_parameter", refused.Reason)
}
