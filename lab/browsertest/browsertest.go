// Package browsertest drives a real Chromium, for tests of browser behaviour: whether the pages' policies allow their own
// forms, which elements a keyboard reaches, how a page is laid out.
package browsertest

import (
	"context"
	_ "embed"
	"errors"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/emulation"
	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/docstest"
)

const testLimit = 4 * time.Minute // many browsers share the machine

// names are the commands of browsers, the cheapest first. Debian's headless shell takes half the CPU time of the others.
// Its command in PATH is a script, which the end of a test would not reach.
var names = []string{
	"/usr/lib/chromium/chromium-headless-shell", "chromium", "chromium-browser", "google-chrome", "google-chrome-stable",
}

// Dark is the option of a browser whose reader prefers dark colours.
var Dark = chromedp.Flag("blink-settings", "preferredColorScheme=0")

// WithoutScript is the action that keeps pages from running scripts. The expressions of a test still run.
var WithoutScript = chromedp.Func(func(ctx context.Context, t *chromedp.Target) error {
	_, err := cdp.Call(ctx, t, emulation.SetScriptExecutionDisabled, emulation.SetScriptExecutionDisabledParams{Value: true})
	return err
})

// New opens a browser with a fresh profile and closes it when the test ends. A test without a browser fails. more are
// further options, such as Dark.
func New(t testing.TB, more ...chromedp.ExecAllocatorOption) context.Context {
	t.Helper()
	limited, stop := context.WithTimeout(t.Context(), testLimit)
	t.Cleanup(stop)
	browser, end, err := Open(limited, more...)
	t.Cleanup(end)
	require.NoError(t, err, "browsertest: chromium does not start")
	return browser
}

// Open is New for a program, which calls end.
func Open(ctx context.Context, more ...chromedp.ExecAllocatorOption) (browser context.Context, end func(), err error) {
	installed := slices.IndexFunc(names, func(name string) bool { return exec.Command(name).Err == nil })
	if installed < 0 {
		return nil, func() {}, errors.New("install a browser: scripts/ensure-debian.sh chromium")
	}
	options := append(chromedp.DefaultExecAllocatorOptions[:], chromedp.ExecPath(names[installed]))
	options = append(options, more...)
	if os.Geteuid() == 0 {
		options = append(options, chromedp.NoSandbox) // Chromium's sandbox refuses root; the pages are those of this service
	}
	allocator, endAllocator := chromedp.NewExecAllocator(ctx, options...)
	browser, endBrowser := chromedp.NewContext(allocator)
	return browser, func() { endBrowser(); endAllocator() }, chromedp.Do(browser, chromedp.Navigate("about:blank"))
}

//go:embed accessible.js
var accessible string

// mostBytes bounds a page with its stylesheet and pictures. The servers of tests do not compress, so the bound is stricter than 60 KB of
// compressed bytes.
const mostBytes = 60_000

// LooksRight reads the page that the browser shows with a script that looks for what a person could not see, reach, press or
// understand: contrast, targets, names, mistakes, landmarks, languages, weight. A picture of the page is written to .local/screenshots
// under the name.
func LooksRight(browser context.Context, t testing.TB, name string) {
	t.Helper()
	require.Eventually(t, func() bool { // a heading is there before the stylesheet is
		loaded, err := chromedp.Run(browser, chromedp.Evaluate[bool](`document.readyState === "complete"`))
		return err == nil && loaded
	}, testLimit, 10*time.Millisecond, name)
	faults, err := chromedp.Run(browser, chromedp.Evaluate[string](strings.Replace(accessible, "MOST", strconv.Itoa(mostBytes), 1)))
	require.NoError(t, err, name)
	require.Empty(t, faults, name)
	picture, err := chromedp.Run(browser, chromedp.FullScreenshot(80))
	require.NoError(t, err, name)
	folder := filepath.Join(docstest.Root(), ".local", "screenshots")
	require.NoError(t, os.MkdirAll(folder, 0o755))
	require.NoError(t, os.WriteFile(filepath.Join(folder, name+".jpg"), picture, 0o600))
}

// Viewports are a phone and a desktop.
var Viewports = map[string]chromedp.Action[chromedp.Void]{
	"phone":   chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile),
	"desktop": chromedp.EmulateViewport(1280, 900),
}

// Schemes are the options of a browser in each colour scheme.
var Schemes = map[string][]chromedp.ExecAllocatorOption{"light": nil, "dark": {Dark}}
