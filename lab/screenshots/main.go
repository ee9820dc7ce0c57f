// Command screenshots takes pictures of a running sandbox (make run) for the README and the guides, into
// docs/pictures. `make screenshots` runs it.
package main

import (
	"cmp"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"net/url"
	"os"
	"os/signal"
	"path/filepath"
	"time"

	"github.com/chromedp/cdproto/cdp"
	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
	"github.com/google/uuid"

	"partnerdeposits/lab/browsertest"
	"partnerdeposits/lab/world"
)

const (
	factsFile = ".local/sandbox.json"
	folder    = "docs/pictures"
	// maxBytes bounds a picture file, whose quality is lowered until it fits.
	maxBytes = 60_000
	patience = 2 * time.Minute
	// The operator's password, as in the tour of make run.
	password = "correct-horse"
)

// failure wraps the error with which check ends the program.
type failure struct{ error }

func check(err error) {
	if err != nil {
		panic(failure{err})
	}
}

func must[T any](value T, err error) T {
	check(err)
	return value
}

func main() {
	defer func() {
		switch ended := recover().(type) {
		case nil:
		case failure:
			fmt.Fprintln(os.Stderr, "screenshots:", ended)
			os.Exit(1)
		default:
			panic(ended)
		}
	}()
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	raw, err := os.ReadFile(factsFile)
	if err != nil {
		check(fmt.Errorf("start `make run` in another shell: %w", err))
	}
	var f facts
	check(json.Unmarshal(raw, &f))
	light, stopBrowser, err := browsertest.StartBrowser(ctx)
	defer stopBrowser()
	check(err)
	dark, stopDark := chromedp.NewContext(light)
	defer stopDark()
	check(chromedp.Do(dark, browsertest.EmulateDarkScheme))
	signUp(light, f)
	f.shoot(ctx, light, dark)
}

// facts are the addresses and keys that make run writes about its sandbox.
type facts struct{ APIBaseURL, DashboardBaseURL, APIKey, ConnectURL string }

// signUp signs an operator up at the connect URL, or logs in the operator of an earlier run.
func signUp(browser context.Context, f facts) {
	check(chromedp.Do(browser, chromedp.Navigate(f.ConnectURL)))
	if !must(chromedp.Run(browser, chromedp.Evaluate[bool](`document.querySelector("#password") !== null`))) {
		email := must(url.Parse(f.ConnectURL)).Query().Get("email")
		check(chromedp.Do(browser, chromedp.Navigate(f.DashboardBaseURL+"/login"), chromedp.WaitVisible("#email"),
			chromedp.SendKeys("#email", email)))
	}
	check(chromedp.Do(browser, chromedp.SendKeys("#password", password), chromedp.Click("button.main"),
		chromedp.WaitNotPresent("#password")))
}

type deposit struct{ ID, DepositURL string }

// bookings are the deposits in the pictures.
var bookings = []booking{
	{"Inès", "García López", 450, 20, "activate", 0}, {"Grace", "Hopper", 700, -4, "activate", 120},
	{"Tom", "Baker", 300, 30, "", 0}, {"Lena", "von Hohenzollern", 600, 12, "fail_payment", 0},
	{"Aoife", "O’Connor", 850, 2, "fail_payment", 0}, {"", "", 500, 6, "", 0}, {"Jean", "Lefèvre", 400, 3, "start", 0},
	{"Sofia", "Rossi", 900, -5, "activate", 0}, {"Noah", "Müller", 350, 18, "activate", 0},
	{"Emma", "Svensson", 650, -6, "activate", 250}, {"Luís", "Almeida", 500, 25, "", 0},
	{"Zoë", "de Vries", 750, 28, "", 0}, {"Mats", "Lindqvist", 480, 33, "activate", 0},
	{"Chloé", "Bernard", 520, 5, "", 0}, {"Ada", "Byron", 1250, -3, "activate", 0},
}

type booking struct {
	first, last string // The tenant's names; "": no known tenant.
	// The amount in euros, and the days from today to the stay's first day.
	amount, starts int
	outcome        string // Outcome of the simulated payment; "": none.
	claimed        int
}

// make creates the deposit of a booking and brings it to the wanted status.
func (f facts) make(ctx context.Context, account string, i int, b booking) (made deposit) {
	from := time.Now().AddDate(0, 0, b.starts).UTC().Truncate(24 * time.Hour)
	body := map[string]any{
		"accountId": account, "amount": b.amount, "rentalContract": fmt.Sprintf("BOOKING-%d", 2041+i),
		"contractStartAt": from.Format(time.RFC3339), "contractEndAt": from.AddDate(0, 0, 7).Format(time.RFC3339),
		"depositUrlGeneration": true, "returnUrl": "http://127.0.0.1:8090/thanks",
	}
	if b.last != "" {
		var person deposit
		f.post(ctx, "/clients", map[string]any{"accountId": account, "firstName": b.first, "lastName": b.last,
			"email": fmt.Sprintf("tenant-%d@example.com", i), "locale": "en"}, &person)
		body["clientId"] = person.ID
	}
	f.post(ctx, "/deposits", body, &made)
	if b.outcome != "" {
		f.post(ctx, "/test/deposits/"+made.ID+"/simulate", map[string]any{"outcome": b.outcome}, &struct{}{})
	}
	if b.claimed > 0 {
		f.post(ctx, "/deposits/"+made.ID+"/capture",
			map[string]any{"amount": b.claimed, "reason": "cleaning", "description": "The oven was left dirty."}, &struct{}{})
	}
	return made
}

func (f facts) post(ctx context.Context, path string, body map[string]any, into any) {
	f.call(ctx, world.APICall{Path: path, Key: uuid.NewString(), Body: string(must(json.Marshal(body)))}, into)
}

var client = world.NewAPIClient(30*time.Second, 1)

// call sends a request to the partner API, and decodes the answer's data.
func (f facts) call(ctx context.Context, call world.APICall, into any) {
	call.Base, call.APIKey = f.APIBaseURL, f.APIKey
	answer := client.Do(ctx, call)
	if !answer.OK() {
		check(fmt.Errorf("%s: %w", call.Path, cmp.Or(answer.Err, errors.New(string(answer.Body)))))
	}
	check(answer.DecodeData(into))
}

func (f facts) shoot(ctx, light, dark context.Context) {
	var accounts []struct{ AccountID string }
	f.call(ctx, world.APICall{Method: http.MethodGet, Path: "/accounts"}, &accounts)
	if len(accounts) == 0 {
		check(errors.New("the operator is not linked"))
	}
	var pending, active deposit
	for i, b := range bookings {
		made := f.make(ctx, accounts[0].AccountID, i, b)
		switch {
		case b.outcome == "activate" && b.claimed == 0:
			active = made
		case b.outcome == "":
			pending = made
		}
	}
	phone := chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile)
	desktop := chromedp.EmulateViewport(1120, 840)
	desk := f.DashboardBaseURL + "/dashboard"
	take(light, "desk-today", desktop, desk)
	take(dark, "desk-deposits-dark", desktop, desk+"/deposits")
	take(light, "desk-deposit-phone", phone, desk+"/deposits/"+active.ID)
	take(light, "checkout-phone", phone, pending.DepositURL)
	take(dark, "checkout-phone-dark", phone, pending.DepositURL)
	take(light, "mail", phone, f.DashboardBaseURL+"/styleguide/mails/en/0/html")
}

// take writes the visible part of a page as a WebP file of at most maxBytes.
func take(browser context.Context, name string, viewport chromedp.Action[chromedp.Void], at string) {
	if err := chromedp.Do(browser, viewport, chromedp.Navigate(at), chromedp.WaitVisible("h1")); err != nil {
		check(fmt.Errorf("%s: %w", name, err))
	}
	surface := true
	for quality := int64(90); quality > 30; quality -= 10 {
		params := page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatWebp, Quality: &quality,
			FromSurface: &surface}
		shot := must(chromedp.Run(browser, func(ctx context.Context, t *chromedp.Target) ([]byte, error) {
			r, err := cdp.Call(ctx, t, page.CaptureScreenshot, params)
			if err != nil {
				return nil, err
			}
			return r.Data, nil
		}))
		if len(shot) <= maxBytes {
			fmt.Printf("%-22s %3d KB\n", name, (len(shot)+1023)/1024)
			check(os.WriteFile(filepath.Join(folder, name+".webp"), shot, 0o600))
			return
		}
	}
	check(fmt.Errorf("%s is too large at any quality", name))
}
