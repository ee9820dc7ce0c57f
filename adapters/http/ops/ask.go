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

// ErrOtherProgramAnswers is returned for a URL at which another program answers.
var ErrOtherProgramAnswers = errors.New("the answer is not that of a /readyz of this service")

const longestAnswer = 64 << 10

// QueryReadiness returns the status of /readyz of a running process, whose checks take at most 2 s. base is the
// URL of its METRICS_ADDR, with or without /metrics.
//
// Returns ErrOtherProgramAnswers, or the error of the request.
func QueryReadiness(ctx context.Context, client *http.Client, base string) (ReadinessStatus, error) {
	base = strings.TrimSuffix(strings.TrimSuffix(base, "/metrics"), "/")
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, base+"/readyz", nil)
	if err != nil {
		return ReadinessStatus{}, err
	}
	response, err := client.Do(request)
	if err != nil {
		return ReadinessStatus{}, err
	}
	defer response.Body.Close()
	var status ReadinessStatus
	err = json.NewDecoder(io.LimitReader(response.Body, longestAnswer)).Decode(&status)
	switch status.Status {
	case StatusReady, StatusDegraded, StatusNotReady, StatusStopping:
		return status, err
	}
	return ReadinessStatus{}, fmt.Errorf("%w (HTTP status %d)", ErrOtherProgramAnswers, response.StatusCode)
}
