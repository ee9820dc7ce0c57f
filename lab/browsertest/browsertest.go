// Package browsertest drives a real Chromium, for tests of how pages behave and are laid out.
package browsertest

import (
	"context"
	_ "embed"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/chromedp/chromedp/kb"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/backing"
	"partnerdeposits/lab/docstest"
	"partnerdeposits/lab/procs"
)

// testLimit is long, since many browser tests share the machine.
const testLimit = 4 * time.Minute

// names are browsers, the cheapest first, as in scripts/ensure-debian.sh. Debian's headless shell is named by its
// path: a signal to the script in PATH would leave the browser running.
var names = []string{
	"/usr/lib/chromium/chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
	"headless-shell", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
}

// EmulateDarkScheme makes pages appear as to a reader who prefers dark colours.
var EmulateDarkScheme = chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
	dark := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}
	_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: dark})
	return err
})

// DisableScripts keeps pages from running scripts. JavaScript expressions of a test still run.
var DisableScripts = chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
	_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: true})
	return err
})

// shared starts the browser of all tests of a binary: a start costs more than many tests.
var shared = sync.OnceValues(func() (context.Context, error) {
	browser, end, err := StartBrowser(context.Background())
	backing.AtExit(end)
	return browser, err
})

// New opens a fresh browser profile for a test; the actions in first run before the first page. An uncaught
// exception of a page fails the test. TestMain must call backing.RunTests, which ends the browser.
func New(t testing.TB, first ...chromedp.Action[chromedp.Void]) context.Context {
	t.Helper()
	browser, err := shared()
	require.NoError(t, err, "browsertest: chromium does not start")
	limited, stop := context.WithTimeout(browser, testLimit)
	t.Cleanup(stop)
	profile, end := chromedp.NewContext(limited, chromedp.WithNewBrowserContext())
	uncaught := exceptions(profile)
	t.Cleanup(func() {
		end()
		assert.Empty(t, <-uncaught)
	})
	require.NoError(t, chromedp.Do(profile, first...))
	return profile
}

// exceptions sends the uncaught exceptions of a browser profile's pages when the profile is closed.
func exceptions(profile context.Context) <-chan []string {
	messages, all := chromedp.Console(profile), make(chan []string, 1)
	go func() {
		var uncaught []string
		for m, err := range messages {
			if err != nil {
				break
			}
			if m.IsException() {
				uncaught = append(uncaught, m.Text)
			}
		}
		all <- uncaught
	}()
	return all
}

// StartBrowser starts a browser for a program, which must call end.
func StartBrowser(ctx context.Context) (browser context.Context, end func(), err error) {
	procs.PreventTestCaching()
	path, err := installed(exec.LookPath)
	if err != nil {
		return nil, func() {}, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path))
	if os.Geteuid() == 0 {
		// Chromium's isolation of pages does not work for root, and this service's own pages do not need it.
		options = append(options, chromedp.NoSandbox)
	}
	allocator, endAllocator := chromedp.NewExecAllocator(ctx, options...)
	browser, endBrowser := chromedp.NewContext(allocator)
	return browser, func() { endBrowser(); endAllocator() }, chromedp.Do(browser, chromedp.Navigate("about:blank"))
}

// installed returns the path of the first browser that look finds. The field Err of an exec.Cmd is nil for an
// absolute path without a file.
func installed(look func(name string) (path string, err error)) (string, error) {
	for _, name := range names {
		if path, err := look(name); err == nil {
			return path, nil
		}
	}
	return "", errors.New("install a browser: scripts/ensure-debian.sh chromium")
}

//go:embed accessible.js
var accessible string

//go:embed enlarged.js
var enlarged string

// maxBytes bounds a page with its stylesheet and pictures. Test servers do not compress, so this is stricter than
// 60 KB compressed.
const maxBytes = 60_000

// RequireUsablePage fails on what a person could not see, reach, press or understand on a page. Pictures of failed
// pages, with SCREENSHOTS=1 of all, are written to .local/screenshots.
func RequireUsablePage(browser context.Context, t testing.TB, name string) {
	t.Helper()
	AwaitLoaded(browser, t)
	// After a key the browser marks the focus, as for a person who uses the keyboard.
	require.NoError(t, chromedp.Do(browser, chromedp.KeyEvent(kb.Escape)), name)
	faults, err := chromedp.Run(browser,
		chromedp.Evaluate[string](strings.Replace(accessible, "MOST", strconv.Itoa(maxBytes), 1)))
	require.NoError(t, err, name)
	if faults != "" || os.Getenv("SCREENSHOTS") != "" {
		picture(browser, t, name)
	}
	require.Empty(t, faults, name)
	losesNothing(browser, t, name)
}

// AwaitLoaded waits until a page has arrived with its stylesheet. Its first elements appear before that.
func AwaitLoaded(browser context.Context, t testing.TB) {
	t.Helper()
	require.Eventually(t, func() bool {
		loaded, err := chromedp.Run(browser, chromedp.Evaluate[bool](`document.readyState === "complete"`))
		return err == nil && loaded
	}, testLimit, 10*time.Millisecond, "the page loads")
}

func picture(browser context.Context, t testing.TB, name string) {
	t.Helper()
	content, err := chromedp.Run(browser, chromedp.FullScreenshot(80))
	require.NoError(t, err, name)
	folder := filepath.Join(docstest.RepositoryRoot(), ".local", "screenshots")
	require.NoError(t, os.MkdirAll(folder, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(folder, name+".jpg"), content, 0o600))
}

// losesNothing checks that a page shows everything in 320 px, and with text of twice its size.
func losesNothing(browser context.Context, t testing.TB, name string) {
	t.Helper()
	size, err := chromedp.Run(browser, chromedp.Evaluate[[2]int64](`[innerWidth, innerHeight]`))
	require.NoError(t, err, name)
	look := func(how string) {
		faults, err := chromedp.Run(browser, chromedp.Evaluate[string](enlarged))
		require.NoError(t, err, name)
		require.Empty(t, faults, "%s, %s", name, how)
	}
	if size[0] <= narrow {
		require.NoError(t, chromedp.Do(browser, chromedp.EmulateViewport(320, size[1], chromedp.EmulateMobile)), name)
		look("320 px")
		require.NoError(t, chromedp.Do(browser, chromedp.EmulateViewport(size[0], size[1], chromedp.EmulateMobile)), name)
		return
	}
	zoom := func(percent string) {
		_, err := chromedp.Run(browser, chromedp.Evaluate[string](`document.documentElement.style.fontSize = "`+percent+`"`))
		require.NoError(t, err, name)
	}
	zoom("200%")
	look("text at 200 %")
	zoom("")
}

// narrow is the width in pixels of the widest phone.
const narrow = 480

// Viewports are the screen sizes in which pages are tested.
var Viewports = map[string]chromedp.Action[chromedp.Void]{
	"phone":   chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile),
	"desktop": chromedp.EmulateViewport(1280, 900),
}

// ColorSchemes maps light and dark to the browser actions that switch them on.
var ColorSchemes = map[string][]chromedp.Action[chromedp.Void]{"light": nil, "dark": {EmulateDarkScheme}}

// LanguageByColorScheme holds the language of page tests in each colour scheme: two combinations find what four
// would.
var LanguageByColorScheme = map[string]string{"light": "en", "dark": "fr"}
