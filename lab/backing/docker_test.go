package backing

import (
	"errors"
	"net/http"
	"net/http/httptest"
	"strings"
	"testing"
	"time"

	"github.com/ory/dockertest/v3"
	"github.com/ory/dockertest/v3/docker"
	"github.com/stretchr/testify/require"
)

// fakeDaemon answers like a Docker daemon without images; pull handles the request for an image.
func fakeDaemon(t *testing.T, pull http.HandlerFunc) *machine {
	t.Helper()
	daemon := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		switch {
		case strings.HasSuffix(r.URL.Path, "/images/create"):
			pull(w, r)
		case strings.Contains(r.URL.Path, "/images/"):
			http.Error(w, `{"message":"no such image"}`, http.StatusNotFound)
		default:
			_, _ = w.Write([]byte("OK"))
		}
	}))
	t.Cleanup(daemon.Close)
	m := bareMachine(t)
	m.docker = func() (*dockertest.Pool, error) { return dockertest.NewPool(daemon.URL) }
	return m
}

func TestPull_DeadRegistry_CostsLittleAndOnlyOnce(t *testing.T) {
	t.Parallel()
	pulls := make(chan string, 10)
	m := fakeDaemon(t, func(_ http.ResponseWriter, r *http.Request) {
		pulls <- r.URL.Query().Get("fromImage") + ":" + r.URL.Query().Get("tag")
		<-r.Context().Done()
	})
	started := time.Now()
	for range 3 {
		_, err := StartPostgres(t.Context(), Options{machine: m, Logf: t.Logf})
		require.ErrorContains(t, err, "docker: image postgres:15-alpine ")
	}

	require.Less(t, time.Since(started), soon)
	require.Len(t, pulls, 1)
	require.Equal(t, "postgres:15-alpine", <-pulls)

	_, err := StartRedis(t.Context(), Options{machine: m, Logf: t.Logf})
	require.ErrorContains(t, err,
		"docker: image redis:7-alpine is not here and cannot be pulled: the registry does not answer")
}

func TestPull_SlowRegistry_IsLeftWhereServerBinariesAreThere(t *testing.T) {
	t.Parallel()
	m := fakeDaemon(t, func(w http.ResponseWriter, r *http.Request) {
		_, _ = w.Write([]byte(`{"status":"Pulling from library/redis"}`))
		_ = http.NewResponseController(w).Flush()
		<-r.Context().Done()
	})
	real := realMachine(t, "")
	m.lookPath, m.glob, m.euid = real.lookPath, real.glob, real.euid
	s := startRedis(t, Options{machine: m})

	require.Contains(t, s.choice, "cannot be pulled: it did not arrive within 1s")
	require.Contains(t, s.choice, "redis-server, as ")
}

func TestDockerHost(t *testing.T) {
	t.Parallel()
	for endpoint, want := range map[string]string{
		"unix:///var/run/docker.sock": "127.0.0.1", "tcp://10.0.0.7:2375": "10.0.0.7", "http://build:2375": "build",
	} {
		host, local := dockerHost(endpoint)
		require.Equal(t, want, host)
		require.Equal(t, strings.HasPrefix(endpoint, "unix"), local)
	}
}

func TestParentKilled_LeavesNoContainer(t *testing.T) {
	t.Parallel()
	if !dockerHasImages(t) {
		t.Log("this machine has no Docker with both images: the launchers' other tests cover server binaries")
		return
	}
	pool, err := dockertest.NewPool("")
	require.NoError(t, err)
	for _, state := range []string{"running", "paused"} {
		report := killParent(t, "docker/"+state)
		require.Len(t, report.Containers, 2)
		for _, id := range report.Containers {
			require.Eventually(t, func() bool {
				_, err := pool.Client.InspectContainer(id)
				var missing *docker.NoSuchContainer
				return errors.As(err, &missing)
			}, soon, often)
		}
	}
}

// dockerHasImages tells whether a daemon answers and has both images.
func dockerHasImages(t testing.TB) bool {
	m := realMachine(t, "")
	pool, err := m.dockerPool(t.Context())
	if err != nil {
		return false
	}
	for _, s := range []service{postgresService, redisService} {
		if _, err := pool.Client.InspectImage(s.image); err != nil {
			return false
		}
	}
	return true
}
