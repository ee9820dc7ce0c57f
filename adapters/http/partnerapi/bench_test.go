package partnerapi_test

import (
	"encoding/json"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
	"github.com/valyala/fasthttp"

	"partnerdeposits/adapters/http/partnerapi"
	"partnerdeposits/lab/servicetest"
)

// hot sends a request through the app without a socket, on real Postgres and Redis. -cpu 16 measures the throughput of
// the stores, -cpu 1 the latency of a request.
func (c *caller) hot(b *testing.B, path string, body []byte, key string, status int) []byte {
	var ctx fasthttp.RequestCtx
	ctx.Request.Header.SetMethod(fasthttp.MethodPost)
	ctx.Request.Header.SetHost("api.test")
	ctx.Request.Header.SetContentType("application/json")
	ctx.Request.Header.Set("x-api-key", c.key)
	if key != "" {
		ctx.Request.Header.Set("Idempotency-Key", key)
	}
	ctx.Request.SetRequestURI(partnerapi.Prefix + path)
	ctx.Request.SetBody(body)
	c.app.Handler()(&ctx)
	if ctx.Response.StatusCode() != status {
		b.Fatal(ctx.Response.String())
	}
	return ctx.Response.Body()
}

func (c *caller) hotID(b *testing.B, body []byte) string {
	var made struct{ Data struct{ ID string } }
	if err := json.Unmarshal(c.hot(b, "/deposits", body, "", 201), &made); err != nil {
		b.Fatal(err)
	}
	return made.Data.ID
}

func benchStory(b *testing.B) (*caller, []byte) {
	c, account := newStory(b, func(s *servicetest.Setup) { s.Store.KeysKeptFor = 3 * time.Second })
	body, err := json.Marshal(
		draft(account, "depositUrlGeneration", true, "returnUrl", "https://pms.example.com/b", "metadata", object{"k": "v"}))
	require.NoError(b, err)
	return c, body
}

func BenchmarkCreateDeposit_EndToEnd(b *testing.B) {
	for name, keyed := range map[string]bool{"plain": false, "keyed": true} {
		b.Run(name, func(b *testing.B) {
			c, body := benchStory(b)
			b.ReportAllocs()
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					key := ""
					if keyed {
						key = newKey()
					}
					c.hot(b, "/deposits", body, key, 201)
					if keyed {
						<-c.results
					}
				}
			})
		})
	}
}

func BenchmarkCancelDeposit_EndToEnd(b *testing.B) {
	c, body := benchStory(b)
	ids := make(chan string, b.N)
	for range b.N {
		ids <- c.hotID(b, body)
	}
	b.ReportAllocs()
	b.ResetTimer()
	b.RunParallel(func(pb *testing.PB) {
		for pb.Next() {
			c.hot(b, "/deposits/"+<-ids+"/cancel", nil, "", 200)
		}
	})
}
