//go:build long

package e2e_test

import (
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/asynq"
	"partnerdeposits/lab/backing"
	generator "partnerdeposits/lab/load"
	"partnerdeposits/lab/redistest"
)

const (
	loadRate  = 200 // events a second
	loadSpan  = 60  // seconds
	faultAt   = 20  // seconds after the begin of the load
	timely    = 2 * time.Second
	untimely  = .005 // share of the deliveries that may take longer
	usedAgain = 2 * time.Second
)

// steadyLoad is a partner whose deposits are cancelled at a steady rate, with the endpoint that hears of it.
type steadyLoad struct {
	w           *deployment
	dispatchers []*process
	client      *http.Client

	mu       sync.Mutex
	accepted map[string]time.Time // by deposit: when the change was answered
	arrived  map[string]time.Time
	refused  []string
}

// newSteadyLoad starts an http and two dispatchers.
func newSteadyLoad(t *testing.T, redisURL string) *steadyLoad {
	l := &steadyLoad{
		client:   &http.Client{Timeout: soon, Transport: &http.Transport{MaxIdleConnsPerHost: 64}},
		accepted: map[string]time.Time{}, arrived: map[string]time.Time{},
	}
	l.w = newWorldWithRedis(t, redisURL, "RATE_LIMIT_PER_MINUTE=1000000", "RATE_LIMIT_WRITES_PER_MINUTE=1000000")
	l.w.http(t)
	l.dispatchers = []*process{l.w.dispatcher(t), l.w.dispatcher(t)}
	server := httptest.NewServer(http.HandlerFunc(l.receive))
	t.Cleanup(server.Close)
	l.w.api(t).post("/webhooks", map[string]any{"url": server.URL, "events": []string{"deposit.cancelled"}}, nil)
	return l
}

func (l *steadyLoad) receive(_ http.ResponseWriter, r *http.Request) {
	var p payload
	body, err := io.ReadAll(r.Body)
	if err != nil || json.Unmarshal(body, &p) != nil {
		return
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if _, repeated := l.arrived[p.Data.ID]; !repeated {
		l.arrived[p.Data.ID] = time.Now()
	}
}

// deposits creates n deposits.
func (l *steadyLoad) deposits(t *testing.T, n int) []string {
	account := l.w.link(t, "villa")
	ids := make([]string, n)
	api := l.w.api(t)
	_, err := generator.RunClosedLoop(t.Context(), generator.LoopLength{N: n}, 16, func(i int) error {
		var made struct{ Data struct{ ID string } }
		status, raw, err := api.do(http.MethodPost, "/deposits", map[string]any{
			"accountId": account, "amount": 500, "contractStartAt": "2030-06-01T14:00:00Z",
			"contractEndAt":  "2030-06-08T10:00:00Z",
			"rentalContract": fmt.Sprint("B-", i),
		})
		if err == nil && status == http.StatusCreated {
			err = json.Unmarshal(raw, &made)
		}
		ids[i] = made.Data.ID
		return err
	})
	require.NoError(t, err)
	require.NotContains(t, ids, "")
	return ids
}

// run cancels deposits at the rate of the load, and calls fault faultAt seconds after the start.
func (l *steadyLoad) run(t *testing.T, fault func()) {
	ids := l.deposits(t, loadRate*loadSpan)
	var all sync.WaitGroup
	inTheMidst := make(chan struct{})
	all.Go(func() {
		_, _, err := generator.RunOpenLoop(t.Context(), len(ids), loadRate, func(i int, _ time.Time) error {
			if i == loadRate*faultAt {
				close(inTheMidst)
			}
			l.cancel(ids[i])
			return nil
		})
		assert.NoError(t, err)
	})
	<-inTheMidst
	fault()
	all.Wait()
}

func (l *steadyLoad) cancel(depositID string) {
	request, err := http.NewRequest(http.MethodPost, l.w.baseURL+"/api/partner/v1/deposits/"+depositID+"/cancel", nil)
	if err != nil {
		panic(err)
	}
	request.Header.Set("X-Api-Key", l.w.apiKey)
	response, err := l.client.Do(request)
	said := fmt.Sprint(err)
	if err == nil {
		said = response.Status
		_ = response.Body.Close()
	}
	l.mu.Lock()
	defer l.mu.Unlock()
	if err != nil || response.StatusCode != http.StatusOK {
		l.refused = append(l.refused, said)
		return
	}
	l.accepted[depositID] = time.Now()
}

// judge waits for the last delivery, and compares.
func (l *steadyLoad) judge(t *testing.T) {
	require.Empty(t, l.refused, "Redis fails no request")
	require.Eventually(t, func() bool {
		l.mu.Lock()
		defer l.mu.Unlock()
		return len(l.arrived) == len(l.accepted)
	}, 2*time.Minute, often, "nothing is lost")
	late, latest := 0, time.Duration(0)
	for id, at := range l.accepted {
		require.Contains(t, l.arrived, id)
		took := l.arrived[id].Sub(at)
		latest = max(latest, took)
		if took > timely {
			late++
		}
	}
	t.Logf("figure: %d of %d deliveries later than %v, the last after %v: %s", late, len(l.arrived), timely,
		latest.Round(time.Millisecond), t.Name())
	require.LessOrEqual(t, float64(late), untimely*float64(len(l.accepted)))
}

// awaitQueue waits until every dispatcher's jobs go through Redis.
func (l *steadyLoad) awaitQueue(t *testing.T, atMost time.Duration) {
	began := time.Now()
	require.Eventually(t, func() bool {
		for _, d := range l.dispatchers {
			if code, body := fetch(d.opsURL + "/metrics"); code != http.StatusOK ||
				!strings.Contains(body, `svc_queue_mode{mode="queue"} 1`) {
				return false
			}
		}
		return true
	}, atMost, often, "Redis is used again")
	t.Logf("Redis is used again after %s", time.Since(began))
}

// Any node of a cluster may end. Redis fails over by itself, and the service follows.
func TestLong_RedisCluster_AnyNodeKilled_LosesNothingAndDelaysLittle(t *testing.T) {
	for _, c := range []struct {
		name   string
		victim func(*testing.T, *backing.RedisCluster) (victim, successor *backing.Server)
	}{
		{"the master of the queue", queueMaster},
		{"another master", otherMaster},
		{"a replica", func(_ *testing.T, c *backing.RedisCluster) (*backing.Server, *backing.Server) {
			return c.Replicas[0], nil
		}},
	} {
		t.Run(c.name, func(t *testing.T) {
			cluster := redistest.StartCluster(t, 3, 1)
			victim, successor := c.victim(t, cluster)
			l := newSteadyLoad(t, cluster.URL())
			l.run(t, func() {
				require.NoError(t, victim.Kill())
				if successor != nil {
					awaitMaster(t, successor)
					l.awaitQueue(t, usedAgain)
				}
			})
			l.judge(t)
		})
	}
}

func queueMaster(t *testing.T, c *backing.RedisCluster) (*backing.Server, *backing.Server) {
	at, err := c.MasterIndexOfKey(t.Context(), "{"+asynq.QueueName+"}")
	require.NoError(t, err)
	return c.Masters[at], c.Replicas[at]
}

// otherMaster holds no jobs.
func otherMaster(t *testing.T, c *backing.RedisCluster) (*backing.Server, *backing.Server) {
	at, err := c.MasterIndexOfKey(t.Context(), "{"+asynq.QueueName+"}")
	require.NoError(t, err)
	at = (at + 1) % len(c.Masters)
	return c.Masters[at], c.Replicas[at]
}

func awaitMaster(t *testing.T, replica *backing.Server) {
	client := redistest.ServerClient(t, replica)
	require.Eventually(t, func() bool {
		role, err := client.Do(t.Context(), "ROLE").Slice()
		return err == nil && role[0] == "master"
	}, soon, often, "Redis fails over")
}

// A Redis that reached maxmemory answers and refuses.
func TestLong_RedisFull_LosesNothingAndDelaysLittle(t *testing.T) {
	server := redistest.StartServer(t)
	client := redistest.ServerClient(t, server)
	l := newSteadyLoad(t, server.URL())
	l.run(t, func() {
		require.NoError(t, client.ConfigSet(t.Context(), "maxmemory", "1").Err())
		<-time.After(15 * time.Second)
		require.NoError(t, client.ConfigSet(t.Context(), "maxmemory", "0").Err())
		l.awaitQueue(t, usedAgain)
	})
	l.judge(t)
}
