package backing

import (
	"bufio"
	"context"
	"encoding/json"
	"fmt"
	"net"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"sync"
	"testing"
	"time"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

const soon, often = 20 * time.Second, 50 * time.Millisecond

func TestStartPostgres_Native_HasTheSettingsPromised_AndAnUnprivilegedUser(t *testing.T) {
	t.Parallel()
	s := startPostgres(t, Options{})

	for setting, want := range map[string]string{
		"server_encoding": "UTF8", "lc_collate": "C", "timezone": "UTC", "listen_addresses": "127.0.0.1",
		"fsync": "on", "synchronous_commit": "on", "full_page_writes": "on", "max_connections": "300",
	} {
		require.Equal(t, want, query[string](t, s, "select setting from pg_settings where name ilike '"+setting+"'"), setting)
	}
	require.Equal(t, []string{"null:trust", "127.0.0.1:trust", "127.0.0.1:trust"}, // the last is for a standby
		query[[]string](t, s,
			"select array_agg(coalesce(address, 'null') || ':' || auth_method order by line_number) from pg_hba_file_rules"))
	status, err := os.ReadFile("/proc/" + strconv.Itoa(s.Pid()) + "/status")
	require.NoError(t, err)
	require.NotRegexp(t, `(?m)^[UG]id:\s+0\b`, string(status))
}

func TestStartPostgres_OnlyFastUnsafe_GivesUpDurability(t *testing.T) {
	t.Parallel()
	m := realMachine(t, "native")
	m.fastDir = t.TempDir()
	require.NoError(t, os.Chmod(filepath.Dir(m.fastDir), 0o755))
	require.NoError(t, os.Chmod(m.fastDir, 0o755))

	durable, fast := startPostgres(t, Options{machine: m}), startPostgres(t, Options{FastUnsafe: true, machine: m})
	inMemory := startRedis(t, Options{InMemory: true, RedisAOF: true, machine: m})

	require.Equal(t, int64(3), query[int64](t, fast,
		"select count(*) from pg_settings where name in ('fsync', 'synchronous_commit', 'full_page_writes') and setting = 'off'"))
	require.NotEqual(t, m.fastDir, filepath.Dir(homeOf(durable)))
	require.Equal(t, m.fastDir, filepath.Dir(homeOf(fast)))
	require.Equal(t, m.fastDir, filepath.Dir(homeOf(inMemory)))
}

func TestClose_Native_LeavesNothingBehind(t *testing.T) {
	t.Parallel()
	for name, before := range map[string]func(*Server) error{
		"running": func(*Server) error { return nil }, "killed": (*Server).Kill, "paused": (*Server).Pause,
	} {
		for _, s := range []*Server{startPostgres(t, Options{FastUnsafe: true}), startRedis(t, Options{})} {
			dir, pids := homeOf(s), processesIn(homeOf(s))
			require.Contains(t, pids, s.Pid())
			pids = append(pids, s.control.(*nativeServer).home.cleaner.Process.Pid)
			require.NoError(t, before(s))

			require.NoError(t, s.Close())
			require.NoError(t, s.Close(), "a second Close is harmless")

			require.True(t, gone(dir), name)
			require.Zero(t, s.Pid())
			for _, pid := range pids {
				require.False(t, alive(pid), "%s: process %d of %s", name, pid, dir)
			}
		}
	}
}

func TestRestart_Postgres_KeepsURLAndData(t *testing.T) {
	t.Parallel()
	for name, end := range stops {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			forEachLauncher(t, func(t *testing.T, m *machine) {
				s := startPostgres(t, Options{machine: m})
				url, pid := s.URL(), s.Pid()
				execute(t, s, "create table kept as select 42 as answer")

				require.NoError(t, end(s))
				require.Zero(t, s.Pid())
				_, err := pgx.Connect(t.Context(), s.URL())
				require.Error(t, err, "it is down")
				require.NoError(t, s.Restart(t.Context()))
				require.NoError(t, s.Restart(t.Context()), "a server that runs starts again")

				require.Equal(t, url, s.URL())
				require.Equal(t, int32(42), query[int32](t, s, "select answer from kept"))
				if pid != 0 {
					require.NotEqual(t, pid, s.Pid())
				}
			})
		})
	}
}

// stops are the ways in which a server may end before it is restarted.
var stops = map[string]func(*Server) error{
	"after kill":           (*Server).Kill,
	"after immediate stop": func(s *Server) error { return s.Stop(true) },
	"after gentle stop":    func(s *Server) error { return s.Stop(false) },
}

func TestRestart_Redis_KeepsDataOnlyWithAOF(t *testing.T) {
	t.Parallel()
	for name, end := range stops {
		for _, aof := range []bool{false, true} {
			t.Run(name+", AOF "+strconv.FormatBool(aof), func(t *testing.T) {
				t.Parallel()
				forEachLauncher(t, func(t *testing.T, m *machine) {
					s := startRedis(t, Options{RedisAOF: aof, machine: m})
					client := redisClient(t, s)
					require.NoError(t, client.Set(t.Context(), "kept", "42", 0).Err())

					require.NoError(t, end(s))
					require.Error(t, client.Ping(t.Context()).Err(), "it is down")
					require.NoError(t, s.Restart(t.Context()))

					found, err := client.Exists(t.Context(), "kept").Result()
					require.NoError(t, err)
					require.Equal(t, aof, found == 1)
				})
			})
		}
	}
}

func TestPause_KeepsConnectionsSilentUntilResume(t *testing.T) {
	t.Parallel()
	forEachLauncher(t, func(t *testing.T, m *machine) {
		s := startPostgres(t, Options{FastUnsafe: true, machine: m})
		conn, err := pgx.Connect(t.Context(), s.URL())
		require.NoError(t, err)
		defer func() { require.NoError(t, conn.Close(t.Context())) }()

		require.NoError(t, s.Pause())
		answered := make(chan error, 1)
		go func() { answered <- conn.Ping(t.Context()) }()
		select {
		case err := <-answered:
			require.Fail(t, "a paused server answered", "%v", err)
		case <-time.After(300 * time.Millisecond):
		}
		require.NoError(t, s.Resume())

		require.NoError(t, <-answered)
	})
}

func TestLaunch_PortTakenByAnotherServer_IsNotMistakenForOurs(t *testing.T) {
	t.Parallel()
	for _, pair := range [][2]*Server{
		{startRedis(t, Options{}), startRedis(t, Options{})},
		{startPostgres(t, Options{FastUnsafe: true}), startPostgres(t, Options{FastUnsafe: true})},
	} {
		n, other := pair[0].control.(*nativeServer), pair[1].control.(*nativeServer)
		require.NoError(t, n.Kill())
		n.mu.Lock()
		n.port = other.port
		err := n.launch(t.Context())
		n.mu.Unlock()
		require.ErrorContains(t, err, "Address already in use")
	}
}

func TestParentKilled_LeavesNoServerAndNoDirectory(t *testing.T) {
	t.Parallel()
	for _, state := range []string{"running", "paused"} {
		t.Run(state, func(t *testing.T) {
			t.Parallel()
			report := killParent(t, "native/"+state)
			require.Len(t, report.Dirs, 2)
			require.Greater(t, len(report.Pids), 2)

			require.Eventually(t, func() bool { return gone(report.Dirs[0]) && gone(report.Dirs[1]) }, soon, often)
			for _, pid := range report.Pids {
				require.False(t, alive(pid))
			}
		})
	}
}

func TestFreePort_IsGivenOnce_ToASingleProcess(t *testing.T) {
	t.Parallel()
	given := map[int]bool{}
	port := 0
	for range 1000 {
		var err error
		port, err = FreePort()
		require.NoError(t, err)
		require.False(t, given[port])
		given[port] = true
	}
	for _, c := range []struct {
		port      int
		tmp, want string
	}{
		{port, os.TempDir(), "false"}, {100_000 + os.Getpid(), os.TempDir(), "true"}, // of this process, and of nobody
		{port, "/nowhere", "true"}, // without a place for the file, any port is free
	} {
		neighbour := exec.Command(os.Args[0])
		neighbour.Env = append(os.Environ(), "TMPDIR="+c.tmp, fmt.Sprintf("%s=%d", asNeighbour, c.port))
		said, err := neighbour.Output()
		require.NoError(t, err)
		require.Equal(t, c.want, string(said))
	}
}

func TestFreePort_WhileProgramsStart_IsFree(t *testing.T) {
	t.Parallel()
	ctx, stop := context.WithCancel(t.Context())
	var starts sync.WaitGroup
	for range 4 {
		starts.Go(func() {
			for ctx.Err() == nil {
				_ = exec.CommandContext(ctx, "true").Run()
			}
		})
	}
	taken := 0
	for range 500 {
		port, err := FreePort()
		require.NoError(t, err)
		listener, err := net.Listen("tcp4", loopback(port))
		if err != nil {
			taken++
			continue
		}
		require.NoError(t, listener.Close())
	}
	stop()
	starts.Wait()
	require.Zero(t, taken)
}

// killParent runs this binary as a parent of servers and sends SIGKILL after the parent has reported them.
func killParent(t *testing.T, what string) parentReport {
	t.Helper()
	parent := exec.Command(os.Args[0])
	parent.Env = append(os.Environ(), asParent+"="+what)
	parent.Stderr = os.Stderr
	output, err := parent.StdoutPipe()
	require.NoError(t, err)
	require.NoError(t, parent.Start())
	line, err := bufio.NewReader(output).ReadBytes('\n')
	require.NoError(t, err)
	var report parentReport
	require.NoError(t, json.Unmarshal(line, &report))

	require.NoError(t, parent.Process.Kill())
	require.Error(t, parent.Wait())
	return report
}

// forEachLauncher runs a test on server binaries and, where this machine has both images, in Docker.
func forEachLauncher(t *testing.T, test func(*testing.T, *machine)) {
	t.Helper()
	t.Run("native", func(t *testing.T) { test(t, realMachine(t, "native")) })
	if dockerHasImages(t) {
		t.Run("docker", func(t *testing.T) { test(t, realMachine(t, "docker")) })
	}
}
