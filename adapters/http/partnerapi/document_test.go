package partnerapi_test

import (
	"encoding/json"
	"regexp"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/partnerapi"
)

func TestDocument_IsValid(t *testing.T) {
	_, err := partnerapi.Document()
	require.NoError(t, err)
}

func TestDocumentJSON_NamesTheConfiguredServer(t *testing.T) {
	doc, err := partnerapi.Document()
	require.NoError(t, err)
	out, err := partnerapi.DocumentJSON(doc, "https://api.staging.example")
	require.NoError(t, err)
	var served struct {
		OpenAPI string
		Servers []struct{ URL string }
		Paths   map[string]any
	}
	require.NoError(t, json.Unmarshal(out, &served))
	require.Equal(t, "3.0.3", served.OpenAPI)
	require.Len(t, served.Servers, 1)
	require.Equal(t, "https://api.staging.example", served.Servers[0].URL)
	require.Contains(t, served.Paths, "/api/partner/v1/deposits")
	require.Equal(t, "https://api.example.com", doc.Servers[0].URL, "the document itself stays")
}

// Ids in examples look like ours, so that whoever copies one learns the right shape.
func TestDocument_ExampleIDsAreWellFormed(t *testing.T) {
	doc, err := partnerapi.Document()
	require.NoError(t, err)
	out, err := json.Marshal(doc)
	require.NoError(t, err)
	ids := regexp.MustCompile(`"(acct|dep|cli|pwh|dlv|evt|key|prt|req)_(test_)?([0-9a-z]{20,})"`).FindAllStringSubmatch(string(out), -1)
	require.NotEmpty(t, ids)
	for _, id := range ids {
		require.Regexp(t, `^[0-7][0-9a-hjkmnp-tv-z]{25}$`, id[3], id[0])
	}
}
