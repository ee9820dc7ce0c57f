package verify_test

import (
	"encoding/base64"
	"encoding/json"
	"fmt"
	"net/http"
	"os"
	"path/filepath"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/sdk/verify"
)

type vector struct {
	Name, Kind string
	Input      struct {
		Body, BodyBase64, Secret string
		Headers                  map[string]any
		Now                      int64
		Tolerance                *int64
	}
	Want struct{ Error struct{ Reason string } }
}

func TestWebhook_GivesTheReasonOfEachCase(t *testing.T) {
	t.Parallel()
	files, err := filepath.Glob("../vectors/*.json")
	require.NoError(t, err)
	count := 0
	for _, file := range files {
		text, err := os.ReadFile(file)
		require.NoError(t, err)
		var vectors []vector
		require.NoError(t, json.Unmarshal(text, &vectors), file)
		for _, v := range vectors {
			if v.Kind == "unwrap" {
				require.Equal(t, v.Want.Error.Reason, reasonOf(t, v), v.Name)
				count++
			}
		}
	}
	require.Greater(t, count, 100)
}

func reasonOf(t *testing.T, v vector) string {
	t.Helper()
	body := []byte(v.Input.Body)
	if v.Input.BodyBase64 != "" {
		var err error
		body, err = base64.StdEncoding.DecodeString(v.Input.BodyBase64)
		require.NoError(t, err)
	}
	header := http.Header{}
	for name, value := range v.Input.Headers {
		values, isList := value.([]any)
		if !isList {
			values = []any{value}
		}
		for _, one := range values {
			header[name] = append(header[name], fmt.Sprint(one))
		}
	}
	tolerance := 300 * time.Second
	if v.Input.Tolerance != nil {
		tolerance = time.Duration(*v.Input.Tolerance) * time.Second
	}
	return verify.Webhook(body, header, v.Input.Secret, time.Unix(v.Input.Now, 0), tolerance)
}
