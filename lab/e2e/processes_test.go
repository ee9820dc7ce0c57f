package e2e_test

import (
	"context"
	"encoding/json"
	"net/http"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/backing"
	"partnerdeposits/lab/receiver"
	"partnerdeposits/lab/redistest"
)

func TestConfiguration_AllMistakesAtOnceThenExit2(t *testing.T) {
	t.Parallel()
	environ := []string{"SERVICE_ENV=production", "REDIS_URL=redis://user:hunter2@", "WEBHOOK_TIMEOUT=soon",
		"LOG_LEVEL=loud"}
	for _, name := range []string{"http", "dispatcher"} {
		code, stdout, stderr := run(t, environ, name)
		require.Equal(t, 2, code, stderr)
		require.Empty(t, stdout)
		for _, variable := range []string{"DATABASE_URL", "REDIS_URL", "SECRETS_KEYSET", "API_BASE_URL", "DASHBOARD_BASE_URL",
			"SMTP_URL", "PAYMENTS_PROVIDER", "WEBHOOK_TIMEOUT", "LOG_LEVEL"} {
			require.Contains(t, stderr, "\n  - "+variable+": ")
		}
		require.NotContains(t, stderr, "hunter2")
	}
}

func TestListen_ATakenAddressIsNamed(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.http(t)
	code, _, stderr := run(t, append(w.environ, "METRICS_ADDR=127.0.0.1:0"), "http")
	require.Equal(t, 1, code)
	require.Contains(t, stderr, "cannot listen on "+strings.TrimPrefix(w.baseURL, "http://")+" (HTTP_ADDR)")
	require.Contains(t, stderr, "address already in use")
}

// TestReadiness_SaysWhatIsMissing covers stores that are away at the start, a missing schema, and stores that go away
// and come back while a process runs.
func TestReadiness_SaysWhatIsMissing(t *testing.T) {
	t.Parallel()
	ctx, cancel := context.WithTimeout(t.Context(), 3*time.Minute)
	defer cancel()
	services, err := backing.StartPostgresAndRedis(ctx, backing.Options{Private: true, FastUnsafe: true, Logf: t.Logf})
	require.NoError(t, err)
	t.Cleanup(func() { require.NoError(t, services.Close()) })
	postgres, redis := services.Postgres, services.Redis
	require.NoError(t, postgres.Stop(false))
	require.NoError(t, redis.Stop(false))

	environ := []string{"DATABASE_URL=" + strings.Replace(services.PostgresURL, "://", "://postgres:hunter2@", 1),
		"REDIS_URL=" + services.RedisURL}
	if strings.Contains(services.PostgresURL, "@") {
		environ[0] = "DATABASE_URL=" + services.PostgresURL
	}
	public := freePort(t)
	processes := []*process{start(t, "http", append(environ, "HTTP_ADDR="+public)...), start(t, "dispatcher", environ...)}
	each := func(check func(p *process)) {
		for _, p := range processes {
			check(p)
		}
	}
	each(func(p *process) {
		p.awaitStatus(t, http.StatusServiceUnavailable, func(r readiness) bool {
			return r.Status == "not_ready" && r.Checks["postgres"] == "cannot be reached" &&
				r.Checks["redis"] == "cannot be reached"
		})
		code, _ := fetch(p.opsURL + "/livez")
		require.Equal(t, http.StatusOK, code, "a process that waits is alive")
		for _, store := range []string{"postgres", "redis"} { // the log comes through a pipe, later than the answer
			require.Eventually(t, func() bool {
				return strings.Contains(p.log.String(), "missing: "+store+" cannot be reached; trying again")
			}, soon, often)
		}
		require.NotContains(t, p.log.String(), "hunter2")
	})

	require.NoError(t, postgres.Restart(ctx))
	each(func(p *process) {
		p.awaitStatus(t, http.StatusServiceUnavailable, func(r readiness) bool {
			return r.Checks["postgres"] == "ok" && strings.Contains(r.Checks["schema"], "admin migrate up") &&
				r.Checks["redis"] == "cannot be reached"
		})
	})
	code, body := fetch("http://" + public + "/checkout/aaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaaa")
	require.Equal(t, http.StatusServiceUnavailable, code, "a request that needs the schema: %s", body)
	code, _, stderr := run(t, environ, "admin", "migrate", "up")
	require.Zero(t, code, stderr)
	each(func(p *process) {
		p.awaitStatus(t, http.StatusServiceUnavailable,
			func(r readiness) bool { return r.Checks["schema"] == "ok" && r.Checks["redis"] != "ok" })
	})
	require.NoError(t, redis.Restart(ctx))
	each(func(p *process) { p.ready(t) })

	// A Redis that takes no writes is no queue, and no counter of requests, though it answers PING.
	client := redistest.ServerClient(t, redis)
	require.NoError(t, client.ConfigSet(ctx, "maxmemory", "1").Err())
	each(func(p *process) {
		p.awaitStatus(t, http.StatusOK,
			func(r readiness) bool { return r.Status == "degraded" && r.Checks["redis"] == "takes no writes" })
	})
	dispatcher := processes[1]
	dispatcher.awaitStatus(t, http.StatusOK,
		func(r readiness) bool { return strings.Contains(r.Checks["queue"], "deliveries go out directly") })
	_, metrics := fetch(dispatcher.opsURL + "/metrics")
	require.Contains(t, metrics, "svc_queue_mode{mode=\"direct\"} 1\n")
	code, stdout, _ := run(t, environ, "admin", "doctor")
	require.Equal(t, 1, code)
	require.Contains(t, stdout, "it takes no writes: OOM")
	require.NoError(t, client.ConfigSet(ctx, "maxmemory", "0").Err())
	each(func(p *process) {
		p.awaitStatus(t, http.StatusOK, func(r readiness) bool { return r.Status == "ready" })
	})

	// After its first contact Redis may be away; Postgres never.
	require.NoError(t, redis.Kill())
	each(func(p *process) {
		p.awaitStatus(t, http.StatusOK,
			func(r readiness) bool { return r.Status == "degraded" && r.Checks["redis"] == "cannot be reached" })
	})
	code, _, stderr = run(t, environ, "admin", "doctor")
	require.Equal(t, 1, code)
	require.Equal(t, "something is wrong; see above\n", stderr, "without lines of the Redis driver")
	require.NoError(t, postgres.Stop(true))
	each(func(p *process) {
		p.awaitStatus(t, http.StatusServiceUnavailable,
			func(r readiness) bool { return r.Checks["postgres"] == "cannot be reached" })
		require.Eventually(t, func() bool {
			_, metrics := fetch(p.opsURL + "/metrics")
			return strings.Contains(metrics, "\nsvc_outbox_oldest_age_seconds ") &&
				!strings.Contains(metrics, "\nsvc_outbox_oldest_age_seconds 0\n") &&
				!strings.Contains(metrics, "\nsvc_outbox_pending ")
		}, soon, often, "the age of the outbox grows, its size is unknown")
	})
	require.NoError(t, postgres.Restart(ctx))
	require.NoError(t, redis.Restart(ctx))
	each(func(p *process) {
		p.awaitStatus(t, http.StatusOK, func(r readiness) bool { return r.Status == "ready" })
		require.Zero(t, p.stop(t), p.log.String())
		requireOutagesToldOnce(t, p.log.String())
	})
}

// requireOutagesToldOnce finds no line in the form of a library, and few lines about each of the four outages.
func requireOutagesToldOnce(t *testing.T, log string) {
	t.Helper()
	warnings := map[string]int{}
	for line := range strings.Lines(log) {
		var entry struct{ Level, Msg string }
		require.NoError(t, json.Unmarshal([]byte(line), &entry), line)
		if entry.Level == "WARN" || entry.Level == "ERROR" {
			warnings[entry.Msg]++
		}
	}
	for message, lines := range warnings {
		require.LessOrEqual(t, lines, 5, message)
	}
}

// TestStop_FinishesWhatIsInFlight sends SIGTERM while a request is being answered.
func TestStop_FinishesWhatIsInFlight(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	h := w.http(t)
	r := newReceiver(t)
	webhookID := w.subscribe(t, r)
	// Without a dispatcher, the request for a test delivery waits for seconds: a request in flight.
	type answer struct {
		status int
		body   []byte
		err    error
	}
	answered := make(chan answer, 1)
	client := w.api(t)
	go func() {
		status, body, err := client.do(http.MethodPost, "/webhooks/"+webhookID+"/test", nil)
		answered <- answer{status, body, err}
	}()
	require.Eventually(t, func() bool { return len(w.allDeliveries(t, webhookID)) == 1 }, soon, often,
		"the request has begun")
	require.Zero(t, h.stop(t), h.log.String())
	a := <-answered
	require.NoError(t, a.err, "the answer arrives although the process was told to stop")
	require.Equal(t, http.StatusOK, a.status, string(a.body))
	require.Contains(t, string(a.body), `"pending"`)
	require.Contains(t, h.log.String(), `"msg":"stopped"`)
}

func (w *deployment) allDeliveries(t testing.TB, webhookID string) []delivery {
	t.Helper()
	var log struct{ Data []delivery }
	w.api(t).get("/webhooks/"+webhookID+"/deliveries", &log)
	return log.Data
}

// TestStop_TheDispatcherFinishesItsPOSTs sends SIGTERM while a receiver is slow; nothing is sent twice.
func TestStop_TheDispatcherFinishesItsPOSTs(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.http(t)
	d := w.dispatcher(t)
	r := newReceiver(t)
	inHand, release := make(chan struct{}), make(chan struct{})
	r.AnswerWith(func(n int, _ receiver.Webhook) int {
		if n == 0 {
			close(inHand)
			<-release
		}
		return http.StatusOK
	})
	webhookID := w.subscribe(t, r)
	w.link(t, "villa-12")
	<-inHand
	stopped := make(chan int, 1)
	go func() { stopped <- d.stop(t) }()
	d.awaitStatus(t, http.StatusServiceUnavailable, func(s readiness) bool { return s.Status == "stopping" })
	close(release)
	require.Zero(t, <-stopped, d.log.String())
	log := w.allDeliveries(t, webhookID)
	require.Equal(t, "succeeded", log[0].Status, "recorded before the end")
	require.Len(t, r.All(), 1)
}

// TestStart_WithoutRedisDeliversAllTheSame: the queue carries hints. Without Redis the dispatcher works from Postgres
// alone.
func TestStart_WithoutRedisDeliversAllTheSame(t *testing.T) {
	t.Parallel()
	redis := redistest.StartServer(t)
	w := newWorldWithRedis(t, redis.URL())
	w.http(t)
	r := newReceiver(t)
	w.subscribe(t, r)
	require.NoError(t, redis.Kill())
	start(t, "dispatcher", w.environ...)
	w.link(t, "villa-13")
	require.Equal(t, "rental_operator.linked", r.await(t, 1)[0].EventName())
}
