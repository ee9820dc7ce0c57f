package connect_test

import (
	"fmt"
	"net/url"
	"strconv"
	"time"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/secret"
)

// A partner's server signs slug, external id and the time in seconds, and sends the operator to the URL.
func ExampleSignURL() {
	connectSecret := secret.Text("svc_cs_example")
	ts := strconv.FormatInt(time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC).Unix(), 10)

	query := url.Values{"partner": {"demo"}, "external_id": {"operator-17"}, "ts": {ts}}
	query.Set("sig", connect.SignURL(connectSecret, "demo", "operator-17", ts))
	fmt.Println("https://dashboard.example/register?" + query.Encode())
	// Output:
	// https://dashboard.example/register?external_id=operator-17&partner=demo&sig=2c5a0c38af32e5a6b161479f42a6855ff8b8da4f9094c3e3ec780e5e01ecaa19&ts=1782907200
}

// The service checks the signature first, and then the age of ts.
func ExampleURLParams_Verify() {
	connectSecret := secret.Text("svc_cs_example")
	signed := time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)
	ts := strconv.FormatInt(signed.Unix(), 10)
	params := connect.URLParams{Partner: "demo", ExternalID: "operator-17", TS: ts,
		Sig: connect.SignURL(connectSecret, "demo", "operator-17", ts)}

	fmt.Println("at once:", params.Verify(connectSecret, signed))
	fmt.Println("after 31 days:", fault.FromError(params.Verify(connectSecret, signed.AddDate(0, 0, 31))).Code)
	params.ExternalID = "operator-18"
	fmt.Println("another operator:", fault.FromError(params.Verify(connectSecret, signed)).Code)
	// Output:
	// at once: <nil>
	// after 31 days: expired
	// another operator: invalid_signature
}
