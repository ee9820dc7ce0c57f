package partnerapi_test

import (
	"bytes"
	"compress/gzip"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every route with a body refuses a bad body with the right code and writes no row.
func TestBodies_Bad(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	depositID := c.created(account)
	hook := text(t, c.post("/webhooks", object{"url": "https://93.184.216.34/"}).ok(201), "id")
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, err := z.Write([]byte(raw(account, "amount", "100")))
	require.NoError(t, err)
	require.NoError(t, z.Close())

	bodies := []struct {
		name, body string
		status     int
		code       string
		header     []string
	}{
		{"broken", `{"accountId": "`, 400, "invalid_json", nil},
		{"trailing text", `{} {}`, 400, "invalid_json", nil},
		{"not an object", `[]`, 400, "invalid_json", nil},
		{"null", `null`, 400, "invalid_json", nil},
		{"blank", ` `, 400, "invalid_json", nil},
		{"a field twice", `{"amount":70,"amount":80}`, 400, "invalid_json", nil},
		{"not UTF-8", "{\"comment\":\"\xff\"}", 400, "invalid_json", nil},
		{"too deep", strings.Repeat(`{"a":`, 2000) + "1" + strings.Repeat("}", 2000), 400, "invalid_json", nil},
		{"NUL", `{"comment":"a\u0000b","description":"\u0000","email":"\u0000","url":"\u0000","rentalContract":"\u0000"}`, 400, "invalid_field", nil},
		{"half a surrogate pair", `{"comment":"\ud800"}`, 400, "invalid_field", nil},
		{"100 KB", `{"comment":"` + strings.Repeat("x", 100<<10) + `"}`, 413, "payload_too_large", nil},
		{"1 MB", `{"comment":"` + strings.Repeat("x", 1<<20) + `"}`, 413, "payload_too_large", nil},
		{"gzip", zipped.String(), 415, "unsupported_media_type", []string{"content-encoding", "gzip"}},
		{"a form", `accountId=x`, 415, "unsupported_media_type", []string{"content-type", "application/x-www-form-urlencoded"}},
		{"no content type", `{}`, 415, "unsupported_media_type", []string{"content-type", ""}},
		{"latin 1", `{}`, 415, "unsupported_media_type", []string{"content-type", "application/json; charset=iso-8859-1"}},
	}
	routes := []struct{ method, path string }{
		{"POST", "/deposits"}, {"POST", "/deposits/" + depositID + "/cancel"}, {"POST", "/deposits/" + depositID + "/capture"},
		{"POST", "/clients"}, {"POST", "/webhooks"}, {"PATCH", "/webhooks/" + hook}, {"POST", "/webhooks/" + hook + "/replay"}, {"POST", "/test/deposits/" + depositID + "/simulate"},
	}
	c.leavesNothing(t, func() {
		for _, r := range routes {
			for _, b := range bodies {
				for _, key := range []string{"", newKey()} {
					if b.name == "1 MB" && key != "" {
						continue
					}
					header := append([]string{"idempotency-key", key}, b.header...)
					if key == "" {
						header = b.header
					}
					c.do(r.method, r.path, b.body, header...).refused(b.status, b.code)
				}
			}
		}
	})
	require.Equal(t, "pending", c.get("/deposits/" + depositID).ok(200)["status"])
}

func TestBodies_OfTheWrongShape(t *testing.T) {
	t.Parallel()
	c, account := newStory(t)
	depositID := c.created(account)
	client := object{"accountId": account, "email": "a@b.example", "firstName": "A", "lastName": "B"}
	with := func(k string, v any) object {
		o := object{}
		for name, value := range client {
			o[name] = value
		}
		if o[k] = v; v == nil {
			delete(o, k)
		}
		return o
	}
	hook := "https://93.184.216.34/"
	cases := []struct {
		path    string
		body    object
		code    string
		message string
	}{
		{"/clients", with("email", nil), "missing_field", "email: is required"},
		{"/clients", with("email", ""), "missing_field", "email: is required"},
		{"/clients", with("email", "nobody"), "invalid_field", "email: is not an e-mail address"},
		{"/clients", with("email", "a@b.example\r\nBcc: c@d.example"), "invalid_field", "email: is not an e-mail address"},
		{"/clients", with("firstName", " "), "missing_field", "firstName: is required"},
		{"/clients", with("lastName", strings.Repeat("x", 101)), "invalid_field", "lastName: is longer than 100 characters"},
		{"/clients", with("lastName", "a\nb"), "invalid_field", "lastName: has control or direction characters"},
		{"/clients", with("phone", "0612345678"), "invalid_field", "phone: must be in E.164 form, like +33612345678"},
		{"/clients", with("locale", "FR"), "invalid_field", "locale: must look like fr or en-GB"},
		{"/clients", with("accountId", 7), "invalid_field", "accountId: must be a string"},
		{"/webhooks", object{}, "missing_field", "url: is required"},
		{"/webhooks", object{"url": "http://93.184.216.34/"}, "invalid_field", "url: must be https"},
		{"/webhooks", object{"url": "nonsense"}, "invalid_field", "url: is not an absolute URL"},
		{"/webhooks", object{"url": "https://127.0.0.1/"}, "invalid_field", "url: leads to an address that is not public"},
		{"/webhooks", object{"url": "https://[::ffff:10.0.0.1]/"}, "invalid_field", "url: leads to an address that is not public"},
		{"/webhooks", object{"url": "https://169.254.169.254/latest/meta-data"}, "invalid_field", "url: leads to an address that is not public"},
		{"/webhooks", object{"url": hook, "events": []string{}}, "invalid_field", "events: must not be empty"},
		{"/webhooks", object{"url": hook, "events": nil}, "invalid_field", "events: must be a list, not null"},
		{"/webhooks", object{"url": hook, "events": []string{"deposit.refused"}}, "invalid_field", "events[0]: must be one of rental_operator.linked, deposit.status_changed, deposit.activated, deposit.captured, deposit.expired, deposit.cancelled"},
		{"/deposits/" + depositID + "/cancel", object{"reason": "because"}, "invalid_field", "reason: must be one of booking_cancelled, duplicate, other"},
		{"/deposits/" + depositID + "/cancel", object{"comment": strings.Repeat("x", 2001)}, "invalid_field", "comment: is longer than 2000 characters"},
		{"/deposits/" + depositID + "/capture", object{"amount": "100"}, "invalid_field", "amount: must be a number"},
		{"/deposits/" + depositID + "/capture", object{"amount": 0.001}, "invalid_field", "amount: must be a whole number of cents"},
		{"/deposits/" + depositID + "/capture", object{"amount": 0}, "invalid_field", "amount: must be more than 0"},
		{"/deposits/" + depositID + "/capture", object{"amount": -1}, "invalid_field", "amount: must be more than 0"},
		{"/deposits/" + depositID + "/capture", object{"amount": 500.01}, "capture_exceeds_amount", "amount: 500.01 EUR exceeds the deposit's amount of 500.00 EUR"},
	}
	c.leavesNothing(t, func() {
		for _, k := range cases {
			require.Equal(t, k.message, c.post(k.path, k.body).refused(400, k.code))
		}
	})
}
