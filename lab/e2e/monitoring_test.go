package e2e_test

import (
	"encoding/json"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/docstest"
	generator "partnerdeposits/lab/load"
)

// prometheusOf is Debian's Prometheus.
type prometheusOf struct {
	targets map[string][]*process // by job: http, dispatcher
	rules   string                // a directory; "": deployments/prometheus
	pager   string                // address of an Alertmanager; "": none
	flags   []string              // further ones
	every   time.Duration         // interval of scrapes and rules; 0: a second
	history bool                  // recordings of eight days with steady traffic
}

// startPrometheus returns its URL. It ends with the test.
func startPrometheus(t testing.TB, of prometheusOf) prometheus {
	t.Helper()
	debian(t, "prometheus")
	if of.rules == "" {
		of.rules = filepath.Join(docstest.RepositoryRoot(), "deployments/prometheus")
	}
	every := max(of.every, time.Second)
	var config strings.Builder
	fmt.Fprintf(&config, "global: {scrape_interval: %s, evaluation_interval: %s}\nrule_files: [%q, %q]\nscrape_configs:\n",
		every, every, of.rules+"/*.rules.yml", of.rules+"/*.alerts.yml")
	for _, job := range []string{"http", "dispatcher"} {
		var addresses []string
		for _, p := range of.targets[job] {
			addresses = append(addresses, strings.TrimPrefix(p.opsURL, "http://"))
		}
		fmt.Fprintf(&config, "  - {job_name: %s, static_configs: [{targets: [%s]}]}\n", job,
			`"`+strings.Join(addresses, `", "`)+`"`)
	}
	if of.pager != "" {
		fmt.Fprintf(&config, "alerting: {alertmanagers: [{static_configs: [{targets: [%q]}]}]}\n", of.pager)
	}
	dir, address := t.TempDir(), freePort(t)
	require.NoError(t, os.WriteFile(dir+"/prometheus.yml", []byte(config.String()), 0o600))
	if of.history {
		recordTraffic(t, dir)
	}
	serve(t, "http://"+address+"/-/ready", "prometheus", append([]string{"--config.file=" + dir + "/prometheus.yml",
		"--storage.tsdb.path=" + dir + "/data", "--web.listen-address=" + address, "--log.level=error"}, of.flags...)...)
	return prometheus("http://" + address)
}

// recordTraffic writes what a Prometheus has recorded of partners' requests in the last eight days: five a second in
// the quietest minutes of each hour, a sample a minute.
func recordTraffic(t testing.TB, dir string) {
	t.Helper()
	var samples strings.Builder
	for at := time.Now().Add(-8 * 24 * time.Hour); time.Since(at) > 12*time.Hour; at = at.Add(time.Minute) {
		fmt.Fprintf(&samples, "svc:http_requests:lowest_1h{surface=\"partner_api\"} 5 %d\n", at.Unix())
	}
	require.NoError(t, os.WriteFile(dir+"/traffic.txt", []byte(samples.String()+"# EOF\n"), 0o600))
	out, err := exec.Command("promtool", "tsdb", "create-blocks-from", "openmetrics", "--quiet", dir+"/traffic.txt",
		dir+"/data").CombinedOutput()
	require.NoError(t, err, string(out))
}

// prometheus is the base URL of the API of a running Prometheus.
type prometheus string

// series is a series of samples with its labels.
type series struct {
	Metric map[string]string
	Values []sample
}

// sample is a time in Unix seconds, and a value as a text.
type sample [2]any

func (s sample) read(t testing.TB) (at time.Time, value float64) {
	t.Helper()
	seconds, isNumber := s[0].(float64)
	text, isText := s[1].(string)
	value, err := strconv.ParseFloat(text, 64)
	require.True(t, isNumber && isText && err == nil, "not a sample: %v", s)
	return time.UnixMilli(int64(1000 * seconds)), value
}

// ask reads the data of an endpoint of the API, such as "query_range".
func (p prometheus) ask(t testing.TB, endpoint string, parameters url.Values, into any) {
	t.Helper()
	_, body := fetch(string(p) + "/api/v1/" + endpoint + "?" + parameters.Encode())
	answer := struct {
		Status, Error string
		Data          any
	}{Data: into}
	require.NoError(t, json.Unmarshal([]byte(body), &answer), "%s %v: %s", endpoint, parameters, body)
	require.Equal(t, "success", answer.Status, "%s %v: %s", endpoint, parameters, answer.Error)
}

// evaluate evaluates a query over a span.
func (p prometheus) evaluate(t testing.TB, query string, s shownSpan) []series {
	t.Helper()
	var data struct{ Result []series }
	p.ask(t, "query_range", url.Values{
		"query": {query}, "start": {unixTime(s.from)}, "end": {unixTime(s.to)},
		"step": {strconv.FormatFloat(s.step.Seconds(), 'f', 3, 64)},
	}, &data)
	return data.Result
}

func unixTime(t time.Time) string {
	return strconv.FormatFloat(float64(t.UnixMilli())/1000, 'f', 3, 64)
}

// debian installs a package of Debian, if it is missing.
func debian(t testing.TB, name string) {
	t.Helper()
	out, err := exec.Command(filepath.Join(docstest.RepositoryRoot(), "scripts/ensure-debian.sh"), name).CombinedOutput()
	require.NoError(t, err, string(out))
}

// serve runs a server until the test ends, and returns when the URL answers.
func serve(t testing.TB, url, name string, args ...string) {
	t.Helper()
	cmd := exec.Command(name, args...)
	cmd.Stdout, cmd.Stderr = t.Output(), t.Output()
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = cmd.Process.Kill()
		_ = cmd.Wait()
	})
	require.Eventually(t, func() bool { code, _ := fetch(url); return code == http.StatusOK }, soon, often, name)
}

// traffic creates n deposits in parallel: all are activated, and every fourth is released. It repeats no request.
func (w *deployment) traffic(t testing.TB, account string, n int) {
	t.Helper()
	_, err := generator.RunClosedLoop(t.Context(), generator.LoopLength{N: n}, 8,
		func(i int) error { return w.lifeOfADeposit(t, account, i%4 == 0) })
	require.NoError(t, err)
}

func (w *deployment) lifeOfADeposit(t testing.TB, account string, release bool) error {
	client := w.api(t)
	post := func(path string, body any) (string, error) {
		status, raw, err := client.do(http.MethodPost, path, body)
		if err == nil && status >= http.StatusMultipleChoices {
			err = fmt.Errorf("%s: %d %s", path, status, raw)
		}
		return idIn(raw), err
	}
	id, err := func() (string, error) {
		defer client.header.Del("Idempotency-Key")
		client.header.Set("Idempotency-Key", uuid.NewString())
		return post("/deposits", map[string]any{
			"accountId": account, "amount": 700, "contractStartAt": "2030-06-01T14:00:00Z",
			"contractEndAt": "2030-06-08T10:00:00Z",
		})
	}()
	if err != nil {
		return err
	}
	if _, err = post("/test/deposits/"+id+"/simulate", map[string]any{"outcome": "activate"}); err == nil && release {
		_, err = post("/deposits/"+id+"/release", nil)
	}
	return err
}

// passes waits for a span by the clock, for a sample a second.
func passes(t testing.TB, span time.Duration) {
	t.Helper()
	until := time.Now().Add(span)
	require.Eventually(t, func() bool { return time.Now().After(until) }, span+soon, often)
}
