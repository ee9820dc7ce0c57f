// Package browsertest drives a real Chromium, for what only a browser can tell: whether our policies let our own forms
// through, what a keyboard reaches, what the screen shows.
package browsertest

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"
)

const (
	testLimit    = 90 * time.Second
	installLimit = 5 * time.Minute
)

var names = []string{"chromium", "chromium-browser", "google-chrome", "google-chrome-stable"}

// New opens a browser with a fresh profile, closed when the test ends. Where none is installed, Debian's chromium is, as
// root or with sudo; a test that gets none fails.
func New(t testing.TB) context.Context {
	t.Helper()
	path, err := find()
	require.NoError(t, err)
	limited, stop := context.WithTimeout(t.Context(), testLimit)
	t.Cleanup(stop)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium's sandbox refuses root; it opens our own pages only
	}
	allocator, stop := chromedp.NewExecAllocator(limited, options...)
	t.Cleanup(stop)
	browser, stop := chromedp.NewContext(allocator)
	t.Cleanup(stop)
	require.NoError(t, chromedp.Do(browser, chromedp.Navigate("about:blank")), "browsertest: chromium does not start")
	return browser
}

// find looks for a browser, and installs one no more than once.
var find = sync.OnceValues(func() (string, error) {
	if path, ok := installed(); ok {
		return path, nil
	}
	ctx, cancel := context.WithTimeout(context.Background(), installLimit)
	defer cancel()
	fmt.Fprintln(os.Stderr, "browsertest: no Chromium found, installing Debian's package chromium")
	command := []string{"apt-get", "-o", "DPkg::Lock::Timeout=120", "install", "-y", "--no-install-recommends", "chromium"}
	if os.Geteuid() != 0 {
		command = append([]string{"sudo", "-n"}, command...)
	}
	output, err := exec.CommandContext(ctx, command[0], command[1:]...).CombinedOutput()
	if path, ok := installed(); ok {
		return path, nil
	}
	return "", fmt.Errorf("browsertest: install chromium, or put it into PATH: %w\n%s", err, output)
})

func installed() (string, bool) {
	for _, name := range names {
		if path, err := exec.LookPath(name); err == nil {
			return path, true
		}
	}
	return "", false
}
