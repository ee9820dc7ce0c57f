package sdk_test

import (
	"io"
	"math/rand/v2"
	"net/http"
	"net/http/httptest"
	"net/http/httputil"
	"net/url"
	"sync"
	"testing"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"
)

// cuttingProxy passes requests on to the API and cuts every fifth answer, in the long run: half of those before their
// first byte, half within their body.
func cuttingProxy(t testing.TB, target string) (address string, cuts func() int) {
	t.Helper()
	api, err := url.Parse(target)
	require.NoError(t, err)
	const share, seed = 0.2, 5                // the seed cuts 42 of the first 224 answers
	dice := rand.New(rand.NewPCG(seed, seed)) //nolint:gosec // no secret: a run can be repeated
	var mu sync.Mutex
	count := 0
	proxy := &httputil.ReverseProxy{
		Rewrite: func(r *httputil.ProxyRequest) { r.SetURL(api) },
		ModifyResponse: func(answer *http.Response) error {
			mu.Lock()
			defer mu.Unlock()
			if dice.Float64() >= share {
				return nil
			}
			count++
			_, err := io.Copy(io.Discard, answer.Body) // the request has had its effect
			if err == nil && count%2 == 0 {
				answer.Body = io.NopCloser(cut{})
				return nil
			}
			panic(http.ErrAbortHandler)
		},
		ErrorLog: discard,
	}
	server := httptest.NewUnstartedServer(proxy)
	server.Config.ErrorLog = discard
	server.Start()
	t.Cleanup(server.Close)
	return server.URL, func() int {
		mu.Lock()
		defer mu.Unlock()
		return count
	}
}

// cut is a body that ends too soon.
type cut struct{}

func (cut) Read([]byte) (int, error) { return 0, io.ErrUnexpectedEOF }

// TestCreate_ThroughAProxyThatCuts_NeverDoubles creates 200 deposits where each fifth answer is lost. A create that
// fails all the same is repeated with its key, as the guide says.
func TestCreate_ThroughAProxyThatCuts_NeverDoubles(t *testing.T) {
	t.Parallel()
	forEach(t, func(t *testing.T, l language) {
		const wanted = 200
		c := newConversation(t, l)
		c.connect()
		address, cuts := cuttingProxy(t, c.f.APIBaseURL)
		d := l.serve(t, address, c.f.APIKey)
		request := c.request("500")
		delete(request, "clientId")
		ids := map[string]bool{}
		for range wanted {
			key := uuid.NewString()
			o := d.do("call", call{Call: "deposits.create", Args: []any{request}, Options: object{"idempotencyKey": key}})
			for o.Error != nil {
				require.True(t, o.Error.Connection, "%+v", o.Error)
				o = d.do("call", call{Call: "deposits.create", Args: []any{request}, Options: object{"idempotencyKey": key}})
			}
			ids[idOf(t, o)] = true
		}
		var all []deposit
		c.d.must(&all, "deposits.list", object{"accountId": c.accountID})
		require.Len(t, all, wanted, "in the database")
		require.Len(t, ids, wanted, "as the library told")
		require.Greater(t, cuts(), wanted*18/100, "the proxy has cut")
		t.Logf("%d answers cut, %d deposits", cuts(), len(all))
	})
}
