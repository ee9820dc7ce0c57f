package webhook_test

import (
	"cmp"
	"encoding/base64"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/secret"
	"partnerdeposits/core/webhook"
)

// The libraries for partners and the service have the same reasons and hints: sdk/vectors holds deliveries with both.
// An explanation names the hint, or else the reason.
func TestDiagnose_TellsWhatTheLibrariesTell(t *testing.T) {
	t.Parallel()
	const least = 160
	files, err := filepath.Glob("../../sdk/vectors/*.json")
	require.NoError(t, err)
	compared := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var vectors []struct {
			Name, Kind string
			Input      json.RawMessage
			Want       struct {
				Error struct{ Reason, Hint webhook.SignatureCause }
			}
		}
		require.NoError(t, json.Unmarshal(text, &vectors), file)
		for _, v := range vectors {
			if v.Kind != "unwrap" {
				continue
			}
			var in struct {
				Body       string
				BodyBase64 *string
				Headers    map[string]any
				Secret     secret.Text
				Now        int64
				Tolerance  *time.Duration // seconds
			}
			require.NoError(t, json.Unmarshal(v.Input, &in), v.Name)
			r := webhook.ReceivedDelivery{Headers: webhook.ReceivedHeaders{}, Body: []byte(in.Body)}
			if in.BodyBase64 != nil {
				r.Body, err = base64.StdEncoding.DecodeString(*in.BodyBase64)
				require.NoError(t, err, v.Name)
			}
			for name, value := range in.Headers {
				values, several := value.([]any)
				if !several {
					values = []any{value}
				}
				for _, one := range values {
					r.Headers[name] = append(r.Headers[name], fmt.Sprint(one))
				}
			}
			tolerance, now, want := webhook.TimestampTolerance, time.Unix(in.Now, 0), webhook.SignatureFinding(v.Want.Error)
			if in.Tolerance != nil {
				tolerance = *in.Tolerance * time.Second
			}
			require.Equal(t, want, webhook.DiagnoseSignature(r.Headers, r.Body, in.Secret, tolerance, now), v.Name)
			if in.Tolerance == nil {
				explained := webhook.ExplainSignature(r, webhook.CandidateSecrets{Own: in.Secret}, nil, now)
				require.Equal(t, cmp.Or(want.Hint, want.Reason, webhook.CauseValid), explained.Cause, v.Name)
			}
			compared++
		}
	}
	require.GreaterOrEqual(t, compared, least)
}
