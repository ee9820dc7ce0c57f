//go:build long

package e2e_test

import (
	"bytes"
	"encoding/json"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/docstest"
)

// pager is the receiver of an Alertmanager's notifications.
type pager struct {
	alertmanager string // address

	mu    sync.Mutex
	state map[string]string    // by alert: firing or resolved
	first map[string]time.Time // by alert: when it first fired
	last  map[string]time.Time // by alert: when its state last changed
	sev   map[string]string
	// texts of the last notification, by alert
	summary, runbook map[string]string
	told             []string // of each notification: state, alert and cause of each of its alerts
}

// startPager starts Debian's Alertmanager with deployments/alertmanager.yml. change edits the configuration.
func startPager(t *testing.T, change func(string) string) *pager {
	t.Helper()
	debian(t, "prometheus-alertmanager")
	p := &pager{state: map[string]string{}, first: map[string]time.Time{}, last: map[string]time.Time{},
		sev: map[string]string{}, summary: map[string]string{}, runbook: map[string]string{}, alertmanager: freePort(t)}
	server := httptest.NewServer(http.HandlerFunc(p.notified))
	t.Cleanup(server.Close)
	config := docstest.ReadFile(t, "deployments/alertmanager.yml")
	config = regexp.MustCompile(`url: http://\w+\.invalid/alerts`).ReplaceAllString(config, "url: "+server.URL)
	dir := t.TempDir()
	require.NoError(t, os.WriteFile(dir+"/alertmanager.yml", []byte(change(config)), 0o600))
	serve(t, "http://"+p.alertmanager+"/-/ready", "prometheus-alertmanager", "--config.file="+dir+"/alertmanager.yml",
		"--storage.path="+dir,
		"--web.listen-address="+p.alertmanager, "--cluster.listen-address=", "--log.level=error")
	return p
}

func (p *pager) notified(_ http.ResponseWriter, r *http.Request) {
	var message struct {
		Alerts []struct {
			Status              string
			Labels, Annotations map[string]string
		}
	}
	if json.NewDecoder(r.Body).Decode(&message) != nil {
		return
	}
	p.mu.Lock()
	defer p.mu.Unlock()
	now := map[string]string{} // an alert with several series fires while any does
	for _, a := range message.Alerts {
		name := a.Labels["alertname"]
		p.told = append(p.told, strings.TrimSpace(a.Status+" "+name+" "+a.Labels["cause"]))
		p.sev[name] = a.Labels["severity"]
		p.summary[name], p.runbook[name] = a.Annotations["summary"], a.Annotations["runbook_url"]
		if now[name] != "firing" {
			now[name] = a.Status
		}
	}
	for name, status := range now {
		if p.state[name] != status {
			p.last[name] = time.Now()
		}
		p.state[name] = status
		if _, known := p.first[name]; !known && status == "firing" {
			p.first[name] = time.Now()
		}
	}
}

// expect prepares for a fault: expect waits until no alert of these names fires, and forgets their earlier states and
// times.
func (p *pager) expect(t *testing.T, within time.Duration, names ...string) {
	t.Helper()
	for _, name := range names {
		require.Eventually(t, func() bool { return !p.in("firing")[name] }, within, often, "%s fires before its fault", name)
		p.mu.Lock()
		delete(p.state, name)
		delete(p.first, name)
		p.mu.Unlock()
	}
}

// times gives the times of an alert's first notification since expect, and of the last change of its state.
func (p *pager) times(name string) (fired, changed time.Time) {
	p.mu.Lock()
	defer p.mu.Unlock()
	return p.first[name], p.last[name]
}

// in lists the alerts in a state.
func (p *pager) in(state string) map[string]bool {
	p.mu.Lock()
	defer p.mu.Unlock()
	names := map[string]bool{}
	for name, s := range p.state {
		if s == state {
			names[name] = true
		}
	}
	return names
}

// pages lists the pages that fire.
func (p *pager) pages() (names []string) {
	for name := range p.in("firing") {
		p.mu.Lock()
		if p.sev[name] == "page" {
			names = append(names, name)
		}
		p.mu.Unlock()
	}
	return names
}

// await waits until alerts are in a state.
func (p *pager) await(t *testing.T, state string, within time.Duration, names ...string) {
	t.Helper()
	for _, name := range names {
		require.Eventually(t, func() bool { return p.in(state)[name] }, within, often, "%s is not %s; firing: %s", name,
			state, lazy(func() string { return fmt.Sprint(p.in("firing")) }))
	}
}

// post tells the Alertmanager that an alert fires, or has ended.
func (p *pager) post(t *testing.T, name, cause string, fires bool) {
	t.Helper()
	ends := time.Now()
	if fires {
		ends = ends.Add(time.Hour)
	}
	body, err := json.Marshal([]map[string]any{{"endsAt": ends.Format(time.RFC3339Nano),
		"labels": map[string]string{"alertname": name, "severity": "page", "cause": cause}}})
	require.NoError(t, err)
	response, err := http.Post("http://"+p.alertmanager+"/api/v2/alerts", "application/json", bytes.NewReader(body))
	require.NoError(t, err)
	require.NoError(t, response.Body.Close())
	require.Equal(t, http.StatusOK, response.StatusCode)
}

// hears waits until the pager was told a text so many times.
func (p *pager) hears(t *testing.T, times int, text string, within time.Duration) {
	t.Helper()
	require.Eventually(t, func() bool {
		p.mu.Lock()
		defer p.mu.Unlock()
		heard := 0
		for _, told := range p.told {
			if told == text {
				heard++
			}
		}
		return heard == times
	}, within, often, "%s, %d times", text, times)
}

// A page that returns, or comes with another cause, is told anew within a minute, whatever still fires of the fault
// before, and a page about the cause quiets the burn of a budget that began before it.
func TestLong_Pager_IsToldOfEachFault_AndOfNoEffectOfIt(t *testing.T) {
	p := startPager(t, func(config string) string { return config })
	out, err := exec.Command("amtool", "check-config",
		docstest.RepositoryRoot()+"/deployments/alertmanager.yml").CombinedOutput()
	require.NoError(t, err, string(out))
	p.post(t, "ApiErrorsFast", "", true)
	p.post(t, "WritesFail", "lock", true)
	p.hears(t, 1, "firing WritesFail lock", time.Minute)
	p.post(t, "WritesFail", "standby", true) // before the first has ended
	p.hears(t, 1, "firing WritesFail standby", time.Minute)
	p.post(t, "WritesFail", "standby", false)
	p.hears(t, 1, "resolved WritesFail standby", time.Minute)
	p.post(t, "WritesFail", "standby", true)
	p.hears(t, 2, "firing WritesFail standby", time.Minute)
	p.post(t, "NoReadyHttp", "", true)
	p.hears(t, 1, "firing NoReadyHttp", time.Minute)
	passes(t, 90*time.Second) // longer than group_wait of a burnt budget
	p.hears(t, 0, "firing ApiErrorsFast", time.Minute)
	p.hears(t, 1, "firing WritesFail lock", time.Minute)
	t.Log("figure: a second fault, and one that came back, were paged")
}

// Divisors of the rules for a test: windows and waits, and the ages that alerts compare.
const (
	fasterWindows = 60
	youngerAges   = 10
)

var (
	windows = regexp.MustCompile(`(\[|for: )(\d+)([mhd])`)
	ages    = regexp.MustCompile(`((?:_age_seconds|time\(\) - max).*> )(\d+)$`)
)

// fasterRules copies the rules with shorter windows and ages.
func fasterRules(t *testing.T) (dir string) {
	t.Helper()
	dir = t.TempDir()
	paths, err := filepath.Glob(filepath.Join(docstest.RepositoryRoot(), "deployments/prometheus/*.yml"))
	require.NoError(t, err)
	for _, path := range paths {
		content, err := os.ReadFile(path)
		require.NoError(t, err)
		var lines []string
		for line := range strings.SplitSeq(string(content), "\n") {
			line = windows.ReplaceAllStringFunc(line, func(m string) string {
				parts := windows.FindStringSubmatch(m)
				n, _ := strconv.Atoi(parts[2])
				return fmt.Sprintf("%s%ds", parts[1], n*map[string]int{"m": 60, "h": 3600, "d": 86400}[parts[3]]/fasterWindows)
			})
			lines = append(lines, ages.ReplaceAllStringFunc(line, func(m string) string {
				parts := ages.FindStringSubmatch(m)
				n, _ := strconv.Atoi(parts[2])
				return parts[1] + strconv.Itoa(n/youngerAges)
			}))
		}
		require.NoError(t, os.WriteFile(filepath.Join(dir, filepath.Base(path)), []byte(strings.Join(lines, "\n")), 0o600))
	}
	return dir
}

// atOnce has the Alertmanager tell each change within a second, and inhibit nothing.
func atOnce(config string) string {
	config = regexp.MustCompile(`(group_wait|group_interval): \w+`).ReplaceAllString(config, "$1: 1s")
	before, after, _ := strings.Cut(config, "# A page about")
	_, receivers, _ := strings.Cut(after, "receivers:")
	return before + "receivers:" + receivers
}
