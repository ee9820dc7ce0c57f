package webhook_test

import (
	"runtime"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
)

const ownSecret secret.Text = "svc_whsec_EXAMPLE0000000000"

var explainedAt = time.Unix(1780391667, 0)

// explain asks about a delivery that verifies, and of which a receiver has computed something else.
func explain(body, computed string) webhook.SignatureExplanation {
	timestamp, signature := webhook.Sign(ownSecret, []byte(body), explainedAt)
	headers := webhook.ReceivedHeaders{"X-Svc-Timestamp": {timestamp}, "X-Svc-Signature": {signature}}
	return webhook.ExplainSignature(webhook.ReceivedDelivery{Headers: headers, Body: []byte(body), Computed: computed},
		webhook.CandidateSecrets{Own: ownSecret}, nil, explainedAt)
}

// A partner may ask with any body, so the work must not grow with its nesting, and little with its length. It is not
// parallel, since it counts allocations.
func TestExplain_OfABodyThatIsDeepOrLong_NeedsLittleMemory(t *testing.T) {
	const most = 16 << 20
	numbers := strings.Repeat("1,", 24_000)
	for name, body := range map[string]string{
		"deep":          strings.Repeat("[", 24_000) + strings.Repeat("]", 24_000),
		"deep and wide": strings.Repeat("[", 200) + numbers + "1" + strings.Repeat("]", 200),
		"nested once":   `{"event":"x","a":` + strings.Repeat("[", 17) + strings.Repeat("]", 17) + `}`,
		"wide":          `{"event":"x","a":[` + numbers + `1]}`,
		"long":          `{"event":"x","a":"` + strings.Repeat("é", 20_000) + `"}`,
		"allowed":       `{"event":"x","a":[` + numbers[:16_000] + `1]}`,
	} {
		var before, after runtime.MemStats
		runtime.ReadMemStats(&before)
		require.Equal(t, webhook.CauseSignatureMismatch, explain(body, strings.Repeat("a", 64)).Cause, name)
		runtime.ReadMemStats(&after)
		require.Less(t, after.TotalAlloc-before.TotalAlloc, uint64(most), name)
	}
}

func TestSignedAt_ReadsSecondsAndMilliseconds(t *testing.T) {
	t.Parallel()
	for timestamp, want := range map[string][]time.Time{
		"1780391667": {explainedAt}, "1780391667000": {explainedAt}, "2026-06-02": nil,
	} {
		r := webhook.ReceivedDelivery{Headers: webhook.ReceivedHeaders{"X-Svc-Timestamp": {timestamp},
			"X-Svc-Signature": {own("x")}}}
		require.Equal(t, want, r.PossibleSigningTimes(), timestamp)
	}
}
