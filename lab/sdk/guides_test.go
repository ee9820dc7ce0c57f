package sdk_test

import (
	"context"
	"encoding/json"
	"os"
	"path/filepath"
	"regexp"
	"strconv"
	"strings"
	"syscall"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/backing"
	"partnerdeposits/lab/docstest"
	"partnerdeposits/lab/procs"
	"partnerdeposits/lab/rarely"
)

// block is a fenced code block of a Markdown page. The info string "php receive.php" names a language and a file.
type block struct{ language, file, text string }

var fence = regexp.MustCompile("(?ms)^```(\\w+)(?: (\\S+))?\n(.*?)^```$")

func blocksOf(page string) (blocks []block) {
	for _, m := range fence.FindAllStringSubmatch(page, -1) {
		blocks = append(blocks, block{m[1], m[2], m[3]})
	}
	return blocks
}

// TestStart_FromAnEmptyFolderToAVerifiedWebhook follows the first page of each language word by word: its files are
// written, its commands run.
func TestStart_FromAnEmptyFolderToAVerifiedWebhook(t *testing.T) {
	t.Parallel()
	if !rarely.MustRun(t, rarely.LibraryTests) {
		return
	}
	forEach(t, func(t *testing.T, l language) {
		const patience, most = 3 * time.Minute, 25
		begin, dir, script, lines := time.Now(), t.TempDir(), "", 0
		for _, b := range blocksOf(docstest.ReadFile(t, "docs/guides/start-"+l.name+".md")) {
			switch {
			case b.file != "":
				require.NoError(t, os.WriteFile(filepath.Join(dir, b.file), []byte(b.text), 0o600))
				lines += len(regexp.MustCompile(`(?m)^.*\S.*$`).FindAllString(b.text, -1))
			case b.language == "sh":
				script += b.text
			}
		}
		require.Positive(t, lines)
		require.LessOrEqual(t, lines, most, "lines of the partner's own code")
		port, err := backing.FreePort()
		require.NoError(t, err)
		ctx, cancel := context.WithTimeout(t.Context(), patience)
		defer cancel()
		bash := procs.Command(ctx, "bash", "-eu", "-c", script) //nolint:gosec // the guide's commands
		bash.SysProcAttr = &syscall.SysProcAttr{Setpgid: true}
		bash.Cancel = func() error { return syscall.Kill(-bash.Process.Pid, syscall.SIGKILL) } // the receiver too
		// A command that fails leaves the receiver, which holds the output open.
		bash.WaitDelay = 5 * time.Second
		bash.Dir = dir
		bash.Env = append(os.Environ(), "CHECKOUT="+checkout(t), "PORT="+strconv.Itoa(port), "COMPOSER_ALLOW_SUPERUSER=1",
			"COMPOSER_HOME="+t.TempDir(), "PATH="+debian(t))
		said, err := bash.CombinedOutput()
		if err != nil && bash.Process != nil {
			_ = bash.Cancel()
		}
		require.NoError(t, err, string(said))
		require.Contains(t, string(said), "verified deposit.activated")
		require.Less(t, time.Since(begin), patience)
		t.Logf("%s: %d lines, %s", l.name, lines, time.Since(begin).Round(time.Millisecond))
	})
}

// debian is a PATH that begins with our tools and those of Debian, before any others of the machine.
func debian(t testing.TB) string {
	t.Helper()
	tools, err := filepath.Abs(filepath.Join(docstest.RepositoryRoot(), ".local", "bin"))
	require.NoError(t, err)
	return tools + ":/usr/bin:" + os.Getenv("PATH")
}

// checkout is a folder that looks like a checkout of this repository in which `make run` runs, with a partner of its
// own.
func checkout(t testing.TB) string {
	t.Helper()
	dir := t.TempDir()
	require.NoError(t, os.Symlink(sdk(), filepath.Join(dir, "sdk")))
	content, err := json.MarshalIndent(newPartner(t), "", "  ")
	require.NoError(t, err)
	require.NoError(t, os.Mkdir(filepath.Join(dir, ".local"), 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(dir, ".local", "sandbox.json"), content, 0o600))
	return dir
}

// TestReadme_SamplesRun runs the samples of each library's README, in their order, as one program.
func TestReadme_SamplesRun(t *testing.T) {
	t.Parallel()
	if !rarely.MustRun(t, rarely.LibraryTests) {
		return
	}
	forEach(t, func(t *testing.T, l language) {
		const most = 10
		marks := map[string]string{"php": "php", "node": "js", "python": "python", "go": "go"}
		preludes := map[string]string{"php": "php/tests/readme.prelude.php", "node": "node/test/readme.prelude.mjs",
			"python": "python/tests/readme.prelude.py", "go": "go/testdata/readme.prelude.go.txt"}
		program := docstest.ReadFile(t, "sdk/"+preludes[l.name])
		samples := 0
		for _, b := range blocksOf(docstest.ReadFile(t, "sdk/"+l.folder+"/README.md")) {
			if b.language != marks[l.name] {
				require.Equal(t, "sh", b.language, b.text)
				continue
			}
			samples++
			require.LessOrEqual(t, strings.Count(b.text, "\n"), most, b.text)
			program += "\n" + strings.TrimPrefix(b.text, "<?php\n")
		}
		require.GreaterOrEqual(t, samples, 4)
		runReadme(t, l, program, readmeFacts(t, l))
	})
}

// readmeFacts gives the environment of the samples: a linked operator, a delivery, a return URL.
func readmeFacts(t *testing.T, l language) []string {
	t.Helper()
	c := newConversation(t, l)
	c.connect()
	c.subscribe()
	c.d.must(nil, "webhooks.test", c.webhookID)
	got := c.hook.await(t, "deposit.activated", "dep_test_")
	headers := map[string]string{}
	for name := range got.headers {
		headers[name] = got.headers.Get(name)
	}
	encoded, err := json.Marshal(headers)
	require.NoError(t, err)
	f := c.f
	return []string{"API_URL=" + f.APIBaseURL, "API_KEY=" + f.APIKey, "ACCOUNT_ID=" + c.accountID,
		"WEBHOOK_BODY=" + got.body, "WEBHOOK_HEADERS=" + string(encoded), "WEBHOOK_SECRET=" + c.secret,
		"CONNECT_SECRET=" + f.ConnectSecret, "CONNECT_BASE=" + f.DashboardBaseURL, "PARTNER_SLUG=" + f.PartnerSlug,
		"RETURN_URL=" + c.returned, "HOOK_URL=" + c.hook.url}
}

func runReadme(t *testing.T, l language, program string, env []string) {
	t.Helper()
	dir := t.TempDir()
	write := func(name string) string {
		path := filepath.Join(dir, name)
		require.NoError(t, os.WriteFile(path, []byte(program), 0o600))
		return path
	}
	env = append(env, "SDK="+sdk())
	switch l.name {
	case "php":
		in(t, filepath.Join(sdk(), "php"), env, "php", write("main.php"))
	case "node":
		require.NoError(t, os.MkdirAll(filepath.Join(dir, "node_modules"), 0o755))
		require.NoError(t, os.Symlink(filepath.Join(sdk(), "node"), filepath.Join(dir, "node_modules", "partner-deposits")))
		in(t, dir, env, "node", write("main.mjs"))
	case "python":
		in(t, dir, append(env, "PYTHONPATH="+filepath.Join(sdk(), "python", "src")), python, write("main.py"))
	case "go":
		program += "\treturn nil\n}\n" // the prelude begins the function
		write("main.go")
		mod := "module example.com/partner\n\ngo 1.23\n\nrequire partnerdeposits/sdk/go v1.0.0\n\n" +
			"replace partnerdeposits/sdk/go => " + filepath.Join(sdk(), "go") + "\n"
		require.NoError(t, os.WriteFile(filepath.Join(dir, "go.mod"), []byte(mod), 0o600))
		in(t, dir, append(env, "GOFLAGS=-mod=mod", "GOPROXY=off"), "go", "run", ".")
	}
}
