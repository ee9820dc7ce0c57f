// Package browsertest drives a real Chromium, for tests of browser behaviour: whether the pages' policies allow their
// own forms, which elements a keyboard reaches, how a page is laid out.
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

// Longest duration of a browser test; many tests share the machine.
const testLimit = 4 * time.Minute

// names are the commands and paths of browsers, the cheapest first; scripts/ensure-debian.sh has the same list.
// Debian's headless shell takes half the CPU time of the others. It is named by its path, because the command in
// PATH is a script, and a signal to the script would leave the browser running.
var names = []string{
	"/usr/lib/chromium/chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
	"headless-shell", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
}

// EmulateDarkScheme is the browser action that makes pages appear as to a reader who prefers dark colours.
var EmulateDarkScheme = chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
	dark := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}
	_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: dark})
	return err
})

// DisableScripts is the browser action that keeps pages from running scripts. The JavaScript expressions that a
// test evaluates still run.
var DisableScripts = chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
	_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: true})
	return err
})

// shared starts the browser that all tests of this binary share: a start costs more than many tests.
var shared = sync.OnceValues(func() (context.Context, error) {
	browser, end, err := StartBrowser(context.Background())
	backing.AtExit(end)
	return browser, err
})

// New opens a fresh profile of the shared browser and closes it when the test ends. The actions in first, such as
// EmulateDarkScheme, run before the first page is opened. The test fails if there is no browser, or if a script
// of a page throws an uncaught exception. TestMain of the package must call backing.RunTests, which ends the
// shared browser.
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

// exceptions collects the uncaught exceptions of a browser profile's pages, and sends them to the channel when the
// profile is closed.
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

// StartBrowser starts a browser for a program. The program must call end, which stops the browser.
func StartBrowser(ctx context.Context) (browser context.Context, end func(), err error) {
	procs.PreventTestCaching()
	path, err := installed(exec.LookPath)
	if err != nil {
		return nil, func() {}, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path))
	if os.Geteuid() == 0 {
		// Chromium's sandbox (its isolation of pages) does not work for root. It is not needed, since the pages are
		// this service's own.
		options = append(options, chromedp.NoSandbox)
	}
	allocator, endAllocator := chromedp.NewExecAllocator(ctx, options...)
	browser, endBrowser := chromedp.NewContext(allocator)
	return browser, func() { endBrowser(); endAllocator() }, chromedp.Do(browser, chromedp.Navigate("about:blank"))
}

// installed returns the path of the first browser that is on this machine, as far as the function look finds one.
// The field Err of an exec.Cmd would not do: it is nil for an absolute path, whether or not a file is there.
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

// maxBytes is the largest size of a page with its stylesheet and pictures. The servers of tests do not compress,
// so this bound is stricter than 60 KB of compressed bytes.
const maxBytes = 60_000

// RequireUsablePage runs a script in the browser that finds what a person could not see, reach, press or understand on
// the current page: contrast, sizes of targets, names, error messages, landmarks, languages, weight. The test
// fails with what the script finds. A picture of a failed page, and with SCREENSHOTS=1 of each page, is written to
// .local/screenshots under the name; taking all pictures would need more than half of the browser's time.
func RequireUsablePage(browser context.Context, t testing.TB, name string) {
	t.Helper()
	// Wait until the page has loaded completely: its heading appears before its stylesheet has arrived.
	require.Eventually(t, func() bool {
		loaded, err := chromedp.Run(browser, chromedp.Evaluate[bool](`document.readyState === "complete"`))
		return err == nil && loaded
	}, testLimit, 10*time.Millisecond, name)
	// Press a key, so that the browser marks the element with the focus, as it does for a person who uses the
	// keyboard.
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

func picture(browser context.Context, t testing.TB, name string) {
	t.Helper()
	content, err := chromedp.Run(browser, chromedp.FullScreenshot(80))
	require.NoError(t, err, name)
	folder := filepath.Join(docstest.RepositoryRoot(), ".local", "screenshots")
	require.NoError(t, os.MkdirAll(folder, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(folder, name+".jpg"), content, 0o600))
}

// losesNothing checks that the current page shows everything in 320 px, and with text of twice its size. It
// restores the page's size afterwards.
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

// Viewports are the two screen sizes in which pages are tested: a phone and a desktop.
var Viewports = map[string]chromedp.Action[chromedp.Void]{
	"phone":   chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile),
	"desktop": chromedp.EmulateViewport(1280, 900),
}

// ColorSchemes maps each colour scheme, light and dark, to the browser actions that switch it on.
var ColorSchemes = map[string][]chromedp.Action[chromedp.Void]{"light": nil, "dark": {EmulateDarkScheme}}

// LanguageByColorScheme maps each colour scheme to the language in which pages are tested in that scheme. Colours do
// not depend on words, so two combinations find what four would.
var LanguageByColorScheme = map[string]string{"light": "en", "dark": "fr"}
