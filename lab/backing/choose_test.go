package backing

import (
	"errors"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
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
		{"sandbox", "", Options{Purpose: Sandbox}, postgresService, []string{"env", "native", "docker", "apt-get"}},
		{"private", "", Options{Private: true}, redisService, []string{"docker", "native", "apt-get"}},
		{"env forced", "env", Options{}, postgresService, []string{"env"}},
		{"env forced, private", "env", Options{Private: true}, postgresService, []string{"docker", "native", "apt-get"}},
		{"native forced", "native", Options{}, redisService, []string{"native", "apt-get"}},
		{"docker forced", "docker", Options{Purpose: Sandbox}, redisService, []string{"docker"}},
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
			require.Empty(t, cmp.Diff(c.want, names))
		})
	}
}

func TestStart_UnknownForcing_IsRefused(t *testing.T) {
	t.Parallel()
	m := bareMachine(t)
	m.getenv = environment(map[string]string{forcing: "podman"})

	_, err := Start(t.Context(), Options{machine: m, Logf: t.Logf})

	require.ErrorContains(t, err, `TEST_SERVICES is "podman"; it takes env, native, docker or none`)
}

func TestStart_ForcedToNone_IsRefused(t *testing.T) {
	t.Parallel()
	m := bareMachine(t)
	m.getenv = environment(map[string]string{forcing: "none"})

	_, err := Start(t.Context(), Options{machine: m, Logf: t.Logf})

	require.ErrorContains(t, err, "TEST_SERVICES=none: no server is started for these tests")
}

func TestStart_NothingAvailable_SaysWhatToInstall(t *testing.T) {
	t.Parallel()
	_, err := Start(t.Context(), Options{machine: bareMachine(t), Logf: t.Logf})

	for _, want := range []string{
		"Postgres is needed and none is there: install PostgreSQL 15 or newer (its initdb and postgres), or set TEST_DATABASE_URL, or start Docker and pull postgres:15-alpine",
		"Redis is needed and none is there: install Redis 7 or newer (redis-server), or set TEST_REDIS_URL, or start Docker and pull redis:7-alpine",
		"TEST_DATABASE_URL is not set",
		"docker: no Docker client",
		"native: no initdb and postgres in PATH or /usr/lib/postgresql",
		"native: no redis-server in PATH",
		"apt-get: this is not a Debian or Ubuntu",
	} {
		require.ErrorContains(t, err, want)
	}
}

func TestStart_SandboxWithNothing_NamesItsOwnVariables(t *testing.T) {
	t.Parallel()
	_, err := Start(t.Context(), Options{Purpose: Sandbox, machine: bareMachine(t), Logf: t.Logf})

	require.ErrorContains(t, err, "or set DATABASE_URL")
	require.ErrorContains(t, err, "Redis is needed and none is there: install Redis 7 or newer (redis-server), or set REDIS_URL")
}

func TestStart_ForcedSourceMissing_DoesNotTryOthers(t *testing.T) {
	t.Parallel()
	for forced, want := range map[string]string{
		"env": "TEST_DATABASE_URL is not set", "docker": "no Docker client", "native": "no initdb and postgres",
	} {
		m := bareMachine(t)
		m.getenv = environment(map[string]string{forcing: forced})
		_, err := StartPostgres(t.Context(), Options{machine: m, Logf: t.Logf})
		require.ErrorContains(t, err, want)
		require.ErrorContains(t, err, fmt.Sprintf("or unset TEST_SERVICES (it is %q)", forced))
	}
}

func TestStart_GivenServers_AreUsedAndLeftAlone(t *testing.T) {
	t.Parallel()
	postgres, redis := startPostgres(t, Options{FastUnsafe: true}), startRedis(t, Options{})
	for _, p := range []Purpose{Tests, Sandbox} {
		m := bareMachine(t)
		m.getenv = environment(map[string]string{
			postgresService.envName(p): strings.Replace(postgres.URL(), "postgres@", "postgres:secret@", 1),
			redisService.envName(p):    strings.Replace(redis.URL(), "redis://", "redis://default:secret@", 1),
		})
		var lines []string
		s, err := Start(t.Context(),
			Options{Purpose: p, machine: m, Logf: func(f string, a ...any) { lines = append(lines, fmt.Sprintf(f, a...)) }})
		require.NoError(t, err)

		require.Len(t, lines, 1)
		require.Contains(t, lines[0], "Postgres from "+postgresService.envName(p))
		require.Contains(t, lines[0], "Redis from "+redisService.envName(p))
		require.NotContains(t, lines[0], "secret")
		require.ErrorIs(t, s.Postgres.Kill(), ErrNotOurs)
		require.ErrorIs(t, s.Redis.Restart(t.Context()), ErrNotOurs)
		require.NoError(t, s.Close())
		require.NotZero(t, postgres.Pid())
		require.NotZero(t, redis.Pid())
	}
}

func TestStart_GivenServerAway_IsAnErrorNotAReplacement(t *testing.T) {
	t.Parallel()
	port, err := FreePort()
	require.NoError(t, err)
	m := realMachine(t, "")
	m.getenv = environment(map[string]string{
		"TEST_DATABASE_URL": "postgres://me:secret@" + loopback(port) + "/x",
		"TEST_REDIS_URL":    "redis://me:secret@" + loopback(port) + "/0",
	})

	_, err = Start(t.Context(), Options{machine: m, Logf: t.Logf})

	require.ErrorContains(t, err, "Postgres: TEST_DATABASE_URL is set, but the server does not answer")
	require.ErrorContains(t, err, "Redis: TEST_REDIS_URL is set, but the server does not answer")
	require.NotContains(t, err.Error(), "secret")
}

func TestStart_GivenSomethingElse_IsRefusedWithoutRepeatingIt(t *testing.T) {
	t.Parallel()
	m := bareMachine(t)
	m.getenv = environment(map[string]string{"TEST_DATABASE_URL": "host=x password=secret", "TEST_REDIS_URL": "x:secret"})

	_, err := Start(t.Context(), Options{machine: m, Logf: t.Logf})

	require.ErrorContains(t, err, "not a URL like postgres://")
	require.ErrorContains(t, err, "not a URL like redis://")
	require.NotContains(t, err.Error(), "x:secret")
	require.NotContains(t, err.Error(), "password=secret")
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

	_, err := Start(t.Context(), Options{machine: m, Logf: t.Logf})

	require.ErrorContains(t, err, "Redis is needed")
	left, err := os.ReadDir(temp)
	require.NoError(t, err)
	require.Empty(t, left)
}

func TestPostgresBin_PrefersPathThenTheNewestVersion(t *testing.T) {
	t.Parallel()
	root := t.TempDir()
	bin := func(version string, programs ...string) string {
		dir := filepath.Join(root, version, "bin")
		for _, p := range programs {
			writeExecutable(t, filepath.Join(dir, p), "#!/bin/sh")
		}
		return dir
	}
	old, newest := bin("9.6", "initdb", "postgres"), bin("16", "initdb", "postgres")
	bin("17", "initdb") // initdb without postgres
	m := bareMachine(t)
	m.lookPath = func(name string) (string, error) {
		if !filepath.IsAbs(name) {
			return "", exec.ErrNotFound
		}
		return exec.LookPath(name)
	}
	m.glob = func(pattern string) ([]string, error) {
		if pattern != "/usr/lib/postgresql/*/bin" {
			return nil, nil
		}
		return filepath.Glob(filepath.Join(root, "*", "bin"))
	}

	found, ok := m.postgresBin()
	require.True(t, ok)
	require.Equal(t, newest, found)

	link := filepath.Join(root, "initdb")
	require.NoError(t, os.Symlink(filepath.Join(old, "initdb"), link))
	absolute := m.lookPath
	m.lookPath = func(name string) (string, error) {
		if name == "initdb" {
			return link, nil
		}
		return absolute(name)
	}
	found, ok = m.postgresBin()
	require.True(t, ok)
	require.Equal(t, old, found, "what PATH names wins, its links followed")
}

func TestFromApt_InstallsWhatIsMissing_AndSaysSo(t *testing.T) {
	t.Parallel()
	m := realMachine(t, "native")
	m.euid, m.readFile = func() int { return 0 },
		func(string) ([]byte, error) { return []byte("NAME=x\nID=ubuntu\n"), nil }
	if os.Geteuid() != 0 {
		m.euid = os.Geteuid
	}
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
	m.runRoot = func(script string, packages ...string) ([]byte, error) {
		require.Equal(t, installScript, script)
		require.Equal(t, []string{"redis-server"}, packages)
		installed = true
		return nil, nil
	}
	var lines []string
	s := startRedis(t, Options{machine: m, Logf: func(f string, a ...any) { lines = append(lines, fmt.Sprintf(f, a...)) }})

	require.True(t, installed)
	require.Len(t, lines, 3)
	require.Contains(t, lines[0], "no Redis here: installing it with apt-get install redis-server")
	require.Contains(t, lines[1], "installed redis-server in 0 s")
	require.Contains(t, s.choice, "installed with apt-get (TEST_SERVICES=native; native: no redis-server in PATH)")
}

func TestFromApt_ThatFails_ShowsWhatAptSaid(t *testing.T) {
	t.Parallel()
	m := bareMachine(t)
	m.euid = func() int { return 0 }
	m.readFile = func(string) ([]byte, error) { return []byte(`ID_LIKE="debian"`), nil }
	m.lookPath = func(name string) (string, error) {
		if name == "apt-get" {
			return "/usr/bin/apt-get", nil
		}
		return "", exec.ErrNotFound
	}
	m.runRoot = func(string, ...string) ([]byte, error) {
		return []byte("E: Unable to locate package postgresql\n"), errors.New("exit status 100")
	}

	_, err := StartPostgres(t.Context(), Options{machine: m, Logf: t.Logf})

	require.ErrorContains(t, err,
		"apt-get: install postgresql: exit status 100; it says:\nE: Unable to locate package postgresql")
	require.ErrorContains(t, err,
		`(its initdb and postgres) with "sudo apt-get install postgresql", or set TEST_DATABASE_URL`)
}

func TestDebianLike(t *testing.T) {
	t.Parallel()
	for release, want := range map[string]bool{
		"ID=debian\n": true, "NAME=Ubuntu\nID=ubuntu\nID_LIKE=debian": true,
		`ID=linuxmint` + "\n" + `ID_LIKE="ubuntu debian"`: true,
		"ID=fedora\nVARIANT_ID=debian":                    false, "": false, `ID="alpine"`: false,
	} {
		require.Equal(t, want, debianLike(release), release)
	}
}
