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

// ErrNotOurs is returned for an address at which another program answers.
var ErrNotOurs = errors.New("the answer is not that of a /readyz of this service")

const longestAnswer = 64 << 10

// Ask reads the /readyz of a running process; base is the URL of its METRICS_ADDR, with or without /metrics. The
// process runs its checks, which takes 2 s at most.
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
