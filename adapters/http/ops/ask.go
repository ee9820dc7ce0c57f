package ops

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"strings"
)

// ErrNotOurs is returned for a URL at which another program than this service answers.
var ErrNotOurs = errors.New("the answer is not that of a /readyz of this service")

const longestAnswer = 64 << 10

// Ask requests /readyz of a running process and returns its status. base is the URL of its METRICS_ADDR, with or
// without /metrics. The process runs its checks, which takes at most 2 s.
//
// Returns ErrNotOurs, or the error of the request.
func Ask(ctx context.Context, client *http.Client, base string) (Status, error) {
	base = strings.TrimSuffix(strings.TrimSuffix(base, "/metrics"), "/")
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/readyz", nil)
	if err != nil {
		return Status{}, err
	}
	response, err := client.Do(request)
	if err != nil {
		return Status{}, err
	}
	defer response.Body.Close()
	var status Status
	err = json.NewDecoder(io.LimitReader(response.Body, longestAnswer)).Decode(&status)
	switch status.Status {
	case Ready, Degraded, NotReady, Stopping:
		return status, err
	}
	return Status{}, fmt.Errorf("%w (HTTP status %d)", ErrNotOurs, response.StatusCode)
}
