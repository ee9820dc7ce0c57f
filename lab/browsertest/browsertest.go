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

const testLimit = 4 * time.Minute // many tests share the machine

// names are the commands of browsers, the cheapest first; scripts/ensure-debian.sh has the same list. Debian's
// headless shell takes half the CPU time of the others. Its command in PATH is a script, and a signal to the script
// would leave the browser running.
var names = []string{
	"/usr/lib/chromium/chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
	"headless-shell", "/Applications/Google Chrome.app/Contents/MacOS/Google Chrome",
}

// Dark is the action that shows pages to a reader who prefers dark colours.
var Dark = chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
	dark := []*emulation.MediaFeature{{Name: "prefers-color-scheme", Value: "dark"}}
	_, err := cdp.Call(ctx, t, emulation.SetEmulatedMedia, emulation.SetEmulatedMediaParams{Features: dark})
	return err
})

// WithoutScript is the action that keeps pages from running scripts. The expressions of a test still run.
var WithoutScript = chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
	_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled,
		emulation.SetScriptExecutionDisabledParams{Value: true})
	return err
})

// shared is the browser of all tests of this binary: a start costs more than many a test.
var shared = sync.OnceValues(func() (context.Context, error) {
	browser, end, err := Open(context.Background())
	backing.AtExit(end)
	return browser, err
})

// New opens a fresh profile of the shared browser and closes it when the test ends. The actions in first, such as Dark,
// run at once. The test fails without a browser, and where a script of a page throws an exception that is not caught.
// TestMain of the package must call backing.RunTests, which ends the shared browser.
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

// exceptions collects the uncaught exceptions of a profile's pages, and gives them when the profile is closed.
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

// Open starts a browser for a program, which calls end.
func Open(ctx context.Context) (browser context.Context, end func(), err error) {
	procs.Uncached()
	path, err := installed(exec.LookPath)
	if err != nil {
		return nil, func() {}, err
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(path))
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium's sandbox refuses root; the pages are those of this service
	}
	allocator, endAllocator := chromedp.NewExecAllocator(ctx, options...)
	browser, endBrowser := chromedp.NewContext(allocator)
	return browser, func() { endBrowser(); endAllocator() }, chromedp.Do(browser, chromedp.Navigate("about:blank"))
}

// installed is the path of the first browser that look finds. The field Err of an exec.Cmd would not do: it is nil for
// an absolute path, whether or not a file is there.
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

// maxBytes bounds a page with its stylesheet and pictures. The servers of tests do not compress, so the bound is
// stricter than 60 KB of compressed bytes.
const maxBytes = 60_000

// LooksRight reads the page that the browser shows with a script that looks for what a person could not see, reach,
// press or understand: contrast, targets, names, mistakes, landmarks, languages, weight. The picture of a page
// that fails, and with SCREENSHOTS=1 of each page, is written to .local/screenshots under the name. Pictures would take
// more than half of the browser's time.
func LooksRight(browser context.Context, t testing.TB, name string) {
	t.Helper()
	require.Eventually(t, func() bool { // a heading is there before the stylesheet is
		loaded, err := chromedp.Run(browser, chromedp.Evaluate[bool](`document.readyState === "complete"`))
		return err == nil && loaded
	}, testLimit, 10*time.Millisecond, name)
	// A key says that the reader has a keyboard, and focus is to be seen.
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
	folder := filepath.Join(docstest.Root(), ".local", "screenshots")
	require.NoError(t, os.MkdirAll(folder, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(folder, name+".jpg"), content, 0o600))
}

// losesNothing looks at the page in 320 px, and with text of twice its size, and leaves it as it was.
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

// narrow is the width of the widest phone.
const narrow = 480

// Viewports are a phone and a desktop.
var Viewports = map[string]chromedp.Action[chromedp.Void]{
	"phone":   chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile),
	"desktop": chromedp.EmulateViewport(1280, 900),
}

// Schemes are the first steps of a browser in each colour scheme.
var Schemes = map[string][]chromedp.Action[chromedp.Void]{"light": nil, "dark": {Dark}}

// Languages are those in which a page is seen in each colour scheme. Colours do not depend on words: two looks at a
// page find what four would.
var Languages = map[string]string{"light": "en", "dark": "fr"}
