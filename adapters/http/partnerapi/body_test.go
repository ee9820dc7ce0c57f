package partnerapi_test

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// Every operation with a body refuses bad bodies with the right code, with an idempotency key and without, and changes
// nothing. The contract walk tries the plainest of these on every operation, and bodies where none belongs.
func TestBodies_Bad_OfEveryOperation(t *testing.T) {
	t.Parallel()
	_, other := contractWorld(t)
	var zipped bytes.Buffer
	z := gzip.NewWriter(&zipped)
	_, err := z.Write([]byte(`{}`))
	require.NoError(t, err)
	require.NoError(t, z.Close())

	bodies := []struct {
		name, body string
		status     int
		code       string
		header     []string
	}{
		{"trailing text", `{} {}`, 400, "invalid_json", nil},
		{"not an object", `[]`, 400, "invalid_json", nil},
		{"null", `null`, 400, "invalid_json", nil},
		{"blank", ` `, 400, "invalid_json", nil},
		{"a field twice", `{"amount":70,"amount":80}`, 400, "invalid_json", nil},
		{"not UTF-8", "{\"comment\":\"\xff\"}", 400, "invalid_json", nil},
		{"too deep", strings.Repeat(`{"a":`, 2000) + "1" + strings.Repeat("}", 2000), 400, "invalid_json", nil},
		{"half a surrogate pair", `{"comment":"\ud800"}`, 400, "invalid_field", nil},
		{"1 MB", `{"comment":"` + strings.Repeat("x", 1<<20) + `"}`, 413, "payload_too_large", nil},
		{"compressed", zipped.String(), 415, "unsupported_media_type", []string{"content-encoding", "gzip"}},
		{"a form", `accountId=x`, 415, "unsupported_media_type",
			[]string{"content-type", "application/x-www-form-urlencoded"}},
		{"no content type", `{}`, 415, "unsupported_media_type", []string{"content-type", ""}},
		{"latin 1", `{}`, 415, "unsupported_media_type", []string{"content-type", "application/json; charset=iso-8859-1"}},
	}
	for _, o := range operations(t) {
		if o.schema() == nil {
			continue
		}
		t.Run(o.OperationID, func(t *testing.T) {
			s := other.stage(t)
			q := o.rows.good(s)
			before := s.snapshot(t)
			for _, b := range bodies {
				q.body, q.raw = nil, b.body
				s.send(o, q, b.header...).refused(b.status, b.code)
				if b.name != "1 MB" {
					s.send(o, q, append([]string{"idempotency-key", newKey()}, b.header...)...).refused(b.status, b.code)
				}
			}
			require.Equal(t, before, s.snapshot(t))
		})
	}
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
	link, batch := "/deposits/"+depositID+"/send-link", "/deposits/"+depositID+"/send-link/batch"
	to := func(recipients ...object) object { return object{"recipients": recipients} }
	good := object{"email": "a@b.example"}
	many := make([]object, 21)
	for i := range many {
		many[i] = object{"email": fmt.Sprintf("a%d@b.example", i)}
	}
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
		{"/webhooks", object{"url": "https://[::ffff:10.0.0.1]/"}, "invalid_field",
			"url: leads to an address that is not public"},
		{"/webhooks", object{"url": "https://169.254.169.254/latest/meta-data"}, "invalid_field",
			"url: leads to an address that is not public"},
		{"/webhooks", object{"url": hook, "events": []string{}}, "invalid_field", "events: must not be empty"},
		{"/webhooks", object{"url": hook, "events": nil}, "invalid_field", "events: must be a list, not null"},
		{"/webhooks", object{"url": hook, "events": []string{"deposit.refused"}}, "invalid_field",
			"events[0]: must be one of rental_operator.linked, deposit.status_changed, deposit.activated, deposit.captured, deposit.expired, deposit.cancelled"},
		{"/deposits/" + depositID + "/cancel", object{"reason": "because"}, "invalid_field",
			"reason: must be one of booking_cancelled, duplicate, other"},
		{"/deposits/" + depositID + "/cancel", object{"comment": strings.Repeat("x", 2001)}, "invalid_field",
			"comment: is longer than 2000 characters"},
		{link, object{}, "missing_field", "email: is required"},
		{link, object{"email": ""}, "missing_field", "email: is required"},
		{link, object{"email": "a@b.example\r\nBcc: c@d.example"}, "invalid_field", "email: is not an e-mail address"},
		{link, object{"email": "Bank <a@b.example>"}, "invalid_field", "email: is not an e-mail address"},
		{link, object{"email": "a@b.example,c@d.example"}, "invalid_field", "email: is not an e-mail address"},
		{link, object{"email": "a\u202e@b.example"}, "invalid_field", "email: is not an e-mail address"},
		{link, object{"email": "a\u200b@b.example"}, "invalid_field", "email: is not an e-mail address"},
		{link, object{"email": "a@b.example", "locale": "french"}, "invalid_field", "locale: must look like fr or en-GB"},
		{batch, object{}, "missing_field", "recipients: is required"},
		{batch, to(), "invalid_field", "recipients: must be a list, not null"},
		{batch, object{"recipients": []object{}}, "invalid_field", "recipients: must not be empty"},
		{batch, to(many...), "invalid_field", "recipients: has more than 20 items"},
		{batch, to(good, object{}), "missing_field", "recipients[1].email: is required"},
		{batch, to(good, object{"email": "b@b.example"}, object{"email": "c@b.example"}, object{"email": "nobody"}),
			"invalid_field", "recipients[3].email: is not an e-mail address"},
		{batch, to(good, object{"email": "b@b.example", "locale": "x"}), "invalid_field",
			"recipients[1].locale: must look like fr or en-GB"},
		{batch, to(good, object{"email": "b@b.example"}, object{"email": "A@B.example"}), "invalid_field",
			"recipients[2].email: is the address of recipients[0] too"},
		{"/deposits/" + depositID + "/release", object{"comment": strings.Repeat("x", 2001)}, "invalid_field",
			"comment: is longer than 2000 characters"},
		{"/deposits/" + depositID + "/release", object{"comment": 7}, "invalid_field", "comment: must be a string"},
		{"/deposits/" + depositID + "/capture", object{"amount": "100"}, "invalid_field", "amount: must be a number"},
		{"/deposits/" + depositID + "/capture", object{"amount": 0.001}, "invalid_field",
			"amount: must be a whole number of cents"},
		{"/deposits/" + depositID + "/capture", object{"amount": 0}, "invalid_field", "amount: must be more than 0"},
		{"/deposits/" + depositID + "/capture", object{"amount": -1}, "invalid_field", "amount: must be more than 0"},
		{"/deposits/" + depositID + "/capture", object{"amount": 0.01}, "capture_below_minimum",
			"amount: 0.01 EUR is below the minimum of 0.50 EUR that can be charged to a card"},
		{"/deposits/" + depositID + "/capture", object{"amount": 500.01}, "capture_exceeds_amount",
			"amount: 500.01 EUR exceeds the deposit's amount of 500.00 EUR"},
	}
	c.leavesNothing(t, func() {
		for _, k := range cases {
			require.Equal(t, k.message, c.post(k.path, k.body).refused(400, k.code))
		}
	})
}
