// Package browsertest drives a real Chromium, for tests of browser behaviour: whether the pages' policies allow their own
// forms, which elements a keyboard reaches, how a page is laid out.
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

// New opens a browser with a fresh profile and closes it when the test ends. If no browser is installed, New installs
// Debian's chromium, as root or with sudo. A test without a browser fails.
func New(t testing.TB) context.Context {
	t.Helper()
	path, err := find()
	require.NoError(t, err)
	limited, stop := context.WithTimeout(t.Context(), testLimit)
	t.Cleanup(stop)
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium's sandbox refuses root; the tests open only pages of this service
	}
	allocator, stop := chromedp.NewExecAllocator(limited, options...)
	t.Cleanup(stop)
	browser, stop := chromedp.NewContext(allocator)
	t.Cleanup(stop)
	require.NoError(t, chromedp.Do(browser, chromedp.Navigate("about:blank")), "browsertest: chromium does not start")
	return browser
}

// find returns the path of a browser. It tries to install a browser at most once.
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
