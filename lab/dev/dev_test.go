package main

import (
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"sync"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// program prints its version, the generated greeting and its process id, and runs until SIGTERM.
const program = `package main

import ("os"; "os/signal"; "strconv"; "syscall")

func main() {
	stop := make(chan os.Signal, 1)
	signal.Notify(stop, syscall.SIGTERM)
	os.Stdout.WriteString("version VERSION " + greeting + " pid " + strconv.Itoa(os.Getpid()) + "\n")
	<-stop
	os.Stdout.WriteString("stopped VERSION\n")
}
`

// output is a writer that a test may read at any time.
type output struct {
	mu   sync.Mutex
	text strings.Builder
}

func (o *output) Write(b []byte) (int, error) {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.Write(b)
}

func (o *output) String() string {
	o.mu.Lock()
	defer o.mu.Unlock()
	return o.text.String()
}

func (o *output) await(t *testing.T, text string) {
	t.Helper()
	require.Eventually(t, func() bool { return strings.Contains(o.String(), text) }, 2*time.Minute, 10*time.Millisecond, "%q is not in:\n%s", text, o)
}

func write(t *testing.T, root, name, content string) {
	t.Helper()
	require.NoError(t, os.WriteFile(filepath.Join(root, name), []byte(content), 0o600))
}

func TestLoop_RebuildsAndRestartsOnAChange_AndKeepsTheRunningOneWhenTheBuildFails(t *testing.T) {
	root, out := t.TempDir(), &output{}
	version := func(v string) string { return strings.ReplaceAll(program, "VERSION", v) }
	write(t, root, "go.mod", "module demo\n\ngo 1.26\n")
	write(t, root, "main.go", version("1"))
	write(t, root, "greeting.templ", "package main\nconst greeting = `hello`\n")
	write(t, root, "greeting_templ.go", "package main\nconst greeting = `hello`\n")
	l := loop{
		root: root, command: ".", environ: os.Environ(), binaries: t.TempDir(), out: out, interval: 20 * time.Millisecond,
		generators: []generator{{ending: ".templ", command: []string{"cp", "greeting.templ", "greeting_templ.go"}}},
	}
	ctx, cancel := context.WithCancel(t.Context())
	defer cancel()
	ended := make(chan error, 1)
	go func() { ended <- l.run(ctx) }()

	out.await(t, "version 1 hello")
	write(t, root, "main.go", version("2"))
	out.await(t, "stopped 1\nversion 2 hello")

	write(t, root, "main.go", version("3")+"syntax error")
	out.await(t, "the build failed, and nothing was restarted")
	out.await(t, "main.go:")
	require.NotContains(t, out.String(), "stopped 2")
	write(t, root, "main.go", version("4"))
	out.await(t, "stopped 2\nversion 4 hello")

	write(t, root, "greeting.templ", "package main\nconst greeting = `good morning`\n")
	out.await(t, "version 4 good morning")

	cancel()
	require.NoError(t, <-ended)
	for _, pid := range regexp.MustCompile(`pid (\d+)`).FindAllStringSubmatch(out.String(), -1) {
		n, err := strconv.Atoi(pid[1])
		require.NoError(t, err)
		require.ErrorIs(t, syscall.Kill(n, 0), syscall.ESRCH, "process %d is left behind", n)
	}
	require.Equal(t, 4, strings.Count(out.String(), "version "), "a generated file causes no restart of its own:\n%s", out)
}

func TestTake_WatchesSourcesOnly(t *testing.T) {
	for path, want := range map[string]bool{
		"core/deposit/state.go": true, "adapters/http/ui/assets/app.css": true, "adapters/http/ui/page.templ": true,
		"adapters/postgres/queries/deposits.sql": true, "adapters/http/partnerapi/openapi.yaml": true, "go.mod": true,
		"adapters/http/ui/page_templ.go": false, "adapters/http/partnerapi/api.gen.go": false,
		"adapters/postgres/internal/sqlc/deposits.sql.go": false, "core/deposit/state_test.go": false, "README.md": false,
	} {
		require.Equal(t, want, isWatched(path), path)
	}
	root := t.TempDir()
	write(t, root, "main.go", "package main")
	require.NoError(t, os.Mkdir(filepath.Join(root, ".git"), 0o700))
	write(t, root, ".git/hook.go", "package main")
	before, err := take(root)
	require.NoError(t, err)
	require.Len(t, before, 1)
	write(t, root, "page.css", "")
	require.NoError(t, os.Remove(filepath.Join(root, "main.go")))
	after, err := take(root)
	require.NoError(t, err)
	require.Equal(t, []string{filepath.Join(root, "main.go"), filepath.Join(root, "page.css")}, before.changes(after))
}

func TestGenerators_RunForTheirSourcesOnly(t *testing.T) {
	first := func(path string) string {
		for _, g := range generators {
			if g.reads(".", path) {
				return g.command[0]
			}
		}
		return ""
	}
	require.Equal(t, "sqlc", first("adapters/postgres/queries/deposits.sql"))
	require.Equal(t, "templ", first("adapters/http/ui/page.templ"))
	require.Equal(t, "go", first("adapters/http/partnerapi/openapi.yaml"))
	require.Empty(t, first("adapters/http/ui/assets/app.css"))
	require.Empty(t, first("deployments/compose.yaml"))
}
