package chart_test

import (
	"encoding/base64"
	"encoding/json"
	"net/http"
	"net/http/httptest"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
	"helm.sh/helm/v4/pkg/chart/v2/loader"
	"helm.sh/helm/v4/pkg/chart/v2/util"
	"k8s.io/apimachinery/pkg/runtime/schema"
	"k8s.io/client-go/dynamic"
	"k8s.io/client-go/rest"
)

// secrets is a cluster that has Secrets alone: values by key by name.
type secrets map[string]map[string]string

func (s secrets) ServeHTTP(w http.ResponseWriter, r *http.Request) {
	values, there := s[strings.TrimPrefix(r.URL.Path, "/api/v1/namespaces/deposits/secrets/")]
	w.Header().Set("Content-Type", "application/json")
	if !there {
		w.WriteHeader(http.StatusNotFound)
		_ = json.NewEncoder(w).Encode(map[string]any{"kind": "Status", "apiVersion": "v1", "status": "Failure",
			"reason": "NotFound", "code": 404})
		return
	}
	data := map[string]string{}
	for key, value := range values {
		data[key] = base64.StdEncoding.EncodeToString([]byte(value))
	}
	_ = json.NewEncoder(w).Encode(map[string]any{"kind": "Secret", "apiVersion": "v1", "data": data})
}

// client answers the look-ups of templates from an API server.
type client struct{ dynamic.Interface }

func (c client) GetClientFor(apiVersion, kind string) (dynamic.NamespaceableResourceInterface, bool, error) {
	return c.Resource(schema.GroupVersionResource{Version: apiVersion, Resource: "secrets"}), true, nil
}

// A changed Secret changes the pods of both processes, so that an upgrade rolls them. A key that the chart does not
// take changes nothing.
func TestSecrets_ThatChange_RollThePods(t *testing.T) {
	hash := func(held secrets, template string) string {
		server := httptest.NewServer(held)
		defer server.Close()
		dial, err := dynamic.NewForConfig(&rest.Config{Host: server.URL})
		require.NoError(t, err)
		values := Merge(least(t), parsed(t, "secrets: {from: {DATABASE_URL: {name: app-db, key: uri}}}"))
		texts, err := TextsOf(folder, "demo", values, client{dial})
		require.NoError(t, err)
		found := regexp.MustCompile(`checksum/secrets: ([0-9a-f]{64})\n`).FindStringSubmatch(
			texts["partnerdeposits/templates/"+template])
		require.NotNil(t, found)
		require.NotContains(t, texts["partnerdeposits/templates/"+template], "swordfish")
		return found[1]
	}
	first := secrets{"partnerdeposits": {"REDIS_URL": "swordfish", "SECRETS_KEYSET": "k", "SMTP_URL": "s"},
		"app-db": {"uri": "swordfish", "other": "a"}}
	same := secrets{"partnerdeposits": first["partnerdeposits"], "app-db": {"uri": "swordfish", "other": "b"}}
	changed := secrets{"partnerdeposits": first["partnerdeposits"], "app-db": {"uri": "swordfish2"}}
	absent := secrets{"partnerdeposits": first["partnerdeposits"]}
	for _, template := range []string{"http.yaml", "dispatcher.yaml"} {
		require.Equal(t, hash(first, template), hash(same, template))
		require.NotEqual(t, hash(first, template), hash(changed, template))
		require.NotEqual(t, hash(first, template), hash(absent, template))
	}
}

// A package holds the files behind the links, renders as the folder does, and leaves tests of the rules out.
func TestPackage_RendersAsTheFolder(t *testing.T) {
	loaded, err := loader.Load(folder)
	require.NoError(t, err)
	path, err := util.Save(loaded, t.TempDir())
	require.NoError(t, err)
	values := Merge(least(t), parsed(t, everything))
	want, err := Texts("demo", values)
	require.NoError(t, err)
	got, err := TextsOf(path, "demo", values, nil)
	require.NoError(t, err)
	require.Equal(t, want, got)
	for _, file := range loaded.Files {
		require.NotRegexp(t, `_test\.go$|\.test\.yml$`, file.Name)
	}
}
