package stripe

import (
	"context"
	"encoding/json"
	"net/http/httptrace"

	"partnerdeposits/ports/platform/failpoint"
)

// traced returns a context that reaches the failpoint payment.<call>.sent once the request is written to the
// connection.
func traced(ctx context.Context, call string) context.Context {
	return httptrace.WithClientTrace(ctx, &httptrace.ClientTrace{
		WroteRequest: func(httptrace.WroteRequestInfo) { failpoint.Hit("payment." + call + ".sent") },
	})
}

func decode(text []byte, into any) error { return json.Unmarshal(text, into) }
