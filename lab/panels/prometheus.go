package panels

import (
	"context"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/url"
	"strconv"
	"time"
)

// Prometheus is the base URL of a Prometheus.
type Prometheus string

// askFor bounds a question.
const askFor = 30 * time.Second

// Series is a series of samples.
type Series struct {
	Labels map[string]string
	At     []time.Time
	Values []float64
}

// Ask reads the data of an endpoint of the API, such as "query".
func (p Prometheus) Ask(endpoint string, parameters url.Values, into any) error {
	ctx, cancel := context.WithTimeout(context.Background(), askFor)
	defer cancel()
	request, err := http.NewRequestWithContext(ctx, http.MethodGet, string(p)+"/api/v1/"+endpoint+"?"+parameters.Encode(), nil)
	if err != nil {
		return err
	}
	response, err := (&http.Client{}).Do(request) //nolint:gosec // the Prometheus of a test
	if err != nil {
		return err
	}
	defer func() { _ = response.Body.Close() }()
	raw, err := io.ReadAll(response.Body)
	if err != nil {
		return err
	}
	var answer struct {
		Status, Error string
		Data          json.RawMessage
	}
	if err := json.Unmarshal(raw, &answer); err != nil {
		return fmt.Errorf("%s: %w: %s", endpoint, err, raw)
	}
	if answer.Status != "success" {
		return fmt.Errorf("%s: %s", endpoint, answer.Error)
	}
	return json.Unmarshal(answer.Data, into)
}

// Range evaluates a query over a span.
func (p Prometheus) Range(query string, s Span) ([]Series, error) {
	var data struct {
		Result []struct {
			Metric map[string]string
			Values [][2]any
		}
	}
	err := p.Ask("query_range", url.Values{
		"query": {query}, "start": {unix(s.From)}, "end": {unix(s.To)}, "step": {strconv.FormatFloat(s.Step.Seconds(), 'f', 3, 64)},
	}, &data)
	if err != nil {
		return nil, fmt.Errorf("%w: %s", err, query)
	}
	all := make([]Series, len(data.Result))
	for i, r := range data.Result {
		all[i].Labels = r.Metric
		for _, sample := range r.Values {
			at, isNumber := sample[0].(float64)
			text, isText := sample[1].(string)
			value, err := strconv.ParseFloat(text, 64)
			if !isNumber || !isText || err != nil {
				return nil, fmt.Errorf("not a sample: %v", sample)
			}
			all[i].At, all[i].Values = append(all[i].At, time.UnixMilli(int64(1000*at))), append(all[i].Values, value)
		}
	}
	return all, nil
}

// LabelValues lists the values of a label among the series of a selector.
func (p Prometheus) LabelValues(selector, label string, s Span) (values []string, err error) {
	err = p.Ask("label/"+label+"/values", url.Values{"match[]": {selector}, "start": {unix(s.From)}, "end": {unix(s.To)}}, &values)
	return values, err
}

func unix(t time.Time) string { return strconv.FormatFloat(float64(t.UnixMilli())/1000, 'f', 3, 64) }
