package backing

import (
	"cmp"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

func TestSources_FollowPurposeAndForcing(t *testing.T) {
	t.Parallel()
	for _, c := range []struct {
		name, forced string
		options      Options
		service      service
		want         []string
	}{
		{"tests", "", Options{}, postgresService, []string{"env", "docker", "native", "apt-get"}},
		{"sandbox", "", Options{Purpose: PurposeSandbox}, postgresService, []string{"env", "native", "docker", "apt-get"}},
		{"private", "", Options{Private: true}, redisService, []string{"docker", "native", "apt-get"}},
		{"env forced", "env", Options{}, postgresService, []string{"env"}},
		{"env forced, private", "env", Options{Private: true}, postgresService, []string{"docker", "native", "apt-get"}},
		{"native forced", "native", Options{}, redisService, []string{"native", "apt-get"}},
		{"docker forced", "docker", Options{Purpose: PurposeSandbox}, redisService, []string{"docker"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Parallel()
			c.options.machine = bareMachine(t)
			c.options.machine.getenv = environment(map[string]string{forcing: c.forced})

			list, err := c.service.sources(c.options)

			require.NoError(t, err)
			var names []string
			for _, s := range list {
				names = append(names, s.name)
			}
			require.Equal(t, c.want, names)
		})
	}
}

func TestStart_WithoutAServer_SaysWhatToDo(t *testing.T) {
	t.Parallel()
	nobody, err := FreePort()
	require.NoError(t, err)
	away := loopback(nobody)
	for _, c := range []struct {
		purpose     ServerPurpose
		environment map[string]string
		want        []string
	}{
		{PurposeTests, nil, []string{
			"Postgres is needed and none is there: install PostgreSQL 15 or newer (its initdb and postgres), or set TEST_DATABASE_URL, or start Docker and pull postgres:15-alpine",
			"Redis is needed and none is there: install Redis 7 or newer (redis-server), or set TEST_REDIS_URL, or start Docker and pull redis:7-alpine",
			"TEST_DATABASE_URL is not set", "docker: no Docker client",
			"native: no initdb and postgres in PATH or /usr/lib/postgresql", "native: no redis-server in PATH",
			"apt-get: there is no apt-get in PATH",
		}},
		{PurposeSandbox, nil, []string{"or set DATABASE_URL", "or set REDIS_URL"}},
		{PurposeTests, map[string]string{forcing: "podman"},
			[]string{`TEST_SERVICES is "podman"; it takes env, native, docker or none`}},
		{PurposeTests, map[string]string{forcing: "none"},
			[]string{"TEST_SERVICES=none: no server is started for these tests"}},
		{PurposeTests, map[string]string{forcing: "env"},
			[]string{"TEST_DATABASE_URL is not set", `or unset TEST_SERVICES (it is "env")`}},
		{PurposeTests, map[string]string{forcing: "docker"},
			[]string{"no Docker client", `or unset TEST_SERVICES (it is "docker")`}},
		{PurposeTests, map[string]string{forcing: "native"},
			[]string{"no initdb and postgres", `or unset TEST_SERVICES (it is "native")`}},
		{PurposeTests, map[string]string{ // a given server is never replaced
			"TEST_DATABASE_URL": "postgres://me:secret@" + away + "/x", "TEST_REDIS_URL": "redis://me:secret@" + away + "/0"},
			[]string{"Postgres: TEST_DATABASE_URL is set, but the server does not answer",
				"Redis: TEST_REDIS_URL is set, but the server does not answer"}},
		{PurposeTests, map[string]string{"TEST_DATABASE_URL": "host=x password=secret", "TEST_REDIS_URL": "x:secret"},
			[]string{"not a URL like postgres://", "not a URL like redis://"}},
	} {
		m := bareMachine(t)
		m.getenv = environment(c.environment)
		_, err := StartPostgresAndRedis(t.Context(), Options{Purpose: c.purpose, machine: m, Logf: t.Logf})
		for _, want := range c.want {
			require.ErrorContains(t, err, want)
		}
		require.NotContains(t, err.Error(), ":secret")
		require.NotContains(t, err.Error(), "=secret")
	}
}

func TestStart_GivenServers_AreUsedAndLeftAlone(t *testing.T) {
	t.Parallel()
	postgres, redis := startPostgres(t, Options{FastUnsafe: true}), startRedis(t, Options{})
	for _, p := range []ServerPurpose{PurposeTests, PurposeSandbox} {
		m := bareMachine(t)
		m.getenv = environment(map[string]string{
			postgresService.envName(p): strings.Replace(postgres.URL(), "postgres@", "postgres:secret@", 1),
			redisService.envName(p):    strings.Replace(redis.URL(), "redis://", "redis://default:secret@", 1),
		})
		var lines []string
		s, err := StartPostgresAndRedis(t.Context(),
			Options{Purpose: p, machine: m, Logf: func(f string, a ...any) { lines = append(lines, fmt.Sprintf(f, a...)) }})
		require.NoError(t, err)

		require.Len(t, lines, 1)
		require.Contains(t, lines[0], "Postgres from "+postgresService.envName(p))
		require.Contains(t, lines[0], "Redis from "+redisService.envName(p))
		require.NotContains(t, lines[0], "secret")
		require.NoError(t, s.Close())
		require.NotZero(t, postgres.Pid())
		require.NotZero(t, redis.Pid())
	}
}

func TestStart_OneServiceMissing_ClosesTheOther(t *testing.T) {
	t.Parallel()
	m := realMachine(t, "native")
	m.lookPath = func(name string) (string, error) {
		if strings.Contains(name, "redis") || strings.Contains(name, "valkey") || name == "apt-get" {
			return "", exec.ErrNotFound
		}
		return exec.LookPath(name)
	}
	temp := t.TempDir()
	m.tempDirs = []string{temp}
	require.NoError(t, os.Chmod(temp, 0o755))

	_, err := StartPostgresAndRedis(t.Context(), Options{machine: m, Logf: t.Logf})

	require.ErrorContains(t, err, "Redis is needed")
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestPostgresBin_PrefersPathThenTheNewestVersion(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	for _, program := range []string{"9.6/bin/initdb", "9.6/bin/postgres", "16/bin/initdb", "16/bin/postgres",
		"17/bin/initdb"} { // the last without postgres
		writeExecutable(t, filepath.Join(root, program), "#!/bin/sh")
	}
	inPath := map[string]string{}
	m := bareMachine(t)
	m.lookPath = func(name string) (string, error) {
		if !filepath.IsAbs(name) && inPath[name] == "" {
			return "", exec.ErrNotFound
		}
		return exec.LookPath(cmp.Or(inPath[name], name))
	}
	m.glob = func(string) ([]string, error) { return filepath.Glob(filepath.Join(root, "*", "bin")) }

	found, _ := m.postgresBin()
	require.Equal(t, filepath.Join(root, "16/bin"), found)

	inPath["initdb"] = filepath.Join(root, "initdb")
	require.NoError(t, os.Symlink(filepath.Join(root, "9.6/bin/initdb"), inPath["initdb"]))
	found, _ = m.postgresBin()
	require.Equal(t, filepath.Join(root, "9.6/bin"), found, "what PATH names wins, its links followed")
}

func TestFromApt_InstallsWhatIsMissing_AndSaysSo(t *testing.T) {
	t.Parallel()
	m := realMachine(t, "native")
	installed := false
	m.lookPath = func(name string) (string, error) {
		switch {
		case name == "apt-get" || name == "sudo":
			return "/usr/bin/" + name, nil
		case !installed && (strings.Contains(name, "redis") || strings.Contains(name, "valkey")):
			return "", exec.ErrNotFound
		}
		return exec.LookPath(name)
	}
	m.install = func(needs ...string) error {
		require.Equal(t, []string{"redis-server"}, needs)
		installed = true
		return nil
	}
	var lines []string
	s := startRedis(t, Options{machine: m, Logf: func(f string, a ...any) { lines = append(lines, fmt.Sprintf(f, a...)) }})

	require.True(t, installed)
	require.Len(t, lines, 3)
	require.Contains(t, lines[0], "no Redis here: installing it with apt-get install redis-server")
	require.Contains(t, lines[1], "installed redis-server in 0 s")
	require.Contains(t, s.choice, "installed with apt-get (TEST_SERVICES=native; native: no redis-server in PATH)")
}
