package webhook_test

import (
	"crypto/hmac"
	"crypto/sha256"
	"encoding/hex"
	"fmt"
	"time"

	"partnerdeposits/core/webhook"
)

// A receiver computes the HMAC over the timestamp header, a dot and the raw body, and compares it with the signature
// header in constant time.
func ExampleSign() {
	const key = "svc_whsec_example"
	body := []byte(`{"event":"deposit.activated"}`)
	timestamp, signature := webhook.Sign(key, body, time.Unix(1_790_000_000, 0))
	fmt.Println(webhook.HeaderTimestamp+":", timestamp)
	fmt.Println(webhook.HeaderSignature+":", signature)

	verify := func(body []byte) bool {
		h := hmac.New(sha256.New, []byte(key))
		h.Write([]byte(timestamp + "."))
		h.Write(body)
		return hmac.Equal([]byte(signature), []byte("sha256="+hex.EncodeToString(h.Sum(nil))))
	}
	fmt.Println("as sent:", verify(body))
	fmt.Println("changed:", verify([]byte(`{"event":"deposit.captured"}`)))
	// Output:
	// X-Svc-Timestamp: 1790000000
	// X-Svc-Signature: sha256=31d3e0d5d017f7fe44c08bea9fa83f673a5f482005f63ef4f758d093768ab449
	// as sent: true
	// changed: false
}
