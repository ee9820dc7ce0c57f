// Command screenshots takes the pictures of README and guides from a running sandbox (make run): it signs an operator
// up, makes deposits and writes docs/pictures. `make screenshots` runs it.
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
	// maxBytes bounds a picture; the quality goes down until it fits.
	maxBytes = 60_000
	patience = 2 * time.Minute
)

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	defer stop()
	if err := run(ctx); err != nil {
		fmt.Fprintln(os.Stderr, "screenshots:", err)
		os.Exit(1)
	}
}

// facts are what make run writes about itself.
type facts struct{ APIBaseURL, DashboardBaseURL, APIKey, ConnectURL string }

func run(ctx context.Context) error {
	raw, err := os.ReadFile(factsFile)
	if err != nil {
		return fmt.Errorf("start `make run` in another shell: %w", err)
	}
	var f facts
	if err := json.Unmarshal(raw, &f); err != nil {
		return err
	}
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	light, stop, err := browsertest.Open(ctx)
	defer stop()
	if err != nil {
		return err
	}
	dark, stop := chromedp.NewContext(light)
	defer stop()
	if err := errors.Join(signUp(light, f), chromedp.Do(dark, browsertest.Dark)); err != nil {
		return err
	}
	s, err := f.stage(ctx)
	if err != nil {
		return err
	}
	return s.shoot(light, dark, f)
}

const password = "correct-horse" // that of the tour of make run

// signUp opens the connect URL. An operator whom the tour or an earlier run has signed up logs in.
func signUp(browser context.Context, f facts) error {
	if err := chromedp.Do(browser, chromedp.Navigate(f.ConnectURL)); err != nil {
		return err
	}
	form, err := chromedp.Run(browser, chromedp.Evaluate[bool](`document.querySelector("#password") !== null`))
	if err != nil {
		return err
	}
	if !form {
		u, err := url.Parse(f.ConnectURL)
		if err != nil {
			return err
		}
		login := []chromedp.Action[chromedp.Void]{chromedp.Navigate(f.DashboardBaseURL + "/login"),
			chromedp.WaitVisible("#email"), chromedp.SendKeys("#email", u.Query().Get("email"))}
		if err := chromedp.Do(browser, login...); err != nil {
			return err
		}
	}
	return chromedp.Do(browser, chromedp.SendKeys("#password", password), chromedp.Click("button.main"),
		chromedp.WaitNotPresent("#password"))
}

// staged are the deposits of the pictures.
type staged struct{ pending, active deposit }

type deposit struct{ ID, DepositURL string }

// stage makes deposits in several statuses through the API.
func (f facts) stage(ctx context.Context) (s staged, err error) {
	var accounts []struct{ AccountID string }
	if err := f.call(ctx, http.MethodGet, "/accounts", nil, &accounts); err != nil {
		return s, err
	}
	if len(accounts) == 0 {
		return s, errors.New("the operator is not linked")
	}
	account := accounts[0].AccountID
	for i, b := range bookings {
		if err := f.make(ctx, account, i, b, &s); err != nil {
			return s, err
		}
	}
	return s, nil
}

// bookings are the deposits that the pictures show.
var bookings = []booking{
	{"Inès", "García López", 450, 20, "activate", 0}, {"Grace", "Hopper", 700, -4, "activate", 120},
	{"Tom", "Baker", 300, 30, "", 0}, {"Lena", "von Hohenzollern", 600, 12, "fail_payment", 0},
	{"Aoife", "O’Connor", 850, 2, "fail_payment", 0}, {"", "", 500, 6, "", 0}, {"Jean", "Lefèvre", 400, 3, "start", 0},
	{"Sofia", "Rossi", 900, -5, "activate", 0}, {"Noah", "Müller", 350, 18, "activate", 0},
	{"Emma", "Svensson", 650, -6, "activate", 250}, {"Luís", "Almeida", 500, 25, "", 0},
	{"Zoë", "de Vries", 750, 28, "", 0},
	{"Mats", "Lindqvist", 480, 33, "activate", 0}, {"Chloé", "Bernard", 520, 5, "", 0},
	{"Ada", "Byron", 1250, -3, "activate", 0},
}

type booking struct {
	first, last    string // of the tenant; "": not known
	amount, starts int    // euros, and the first day of the stay counted from today
	outcome        string // of a simulated payment
	claimed        int
}

// make makes the deposit of a booking, and brings it to its status.
func (f facts) make(ctx context.Context, account string, i int, b booking, s *staged) error {
	from := time.Now().AddDate(0, 0, b.starts).UTC().Truncate(24 * time.Hour)
	body := map[string]any{
		"accountId": account, "amount": b.amount, "rentalContract": fmt.Sprintf("BOOKING-%d", 2041+i),
		"contractStartAt": from.Format(time.RFC3339), "contractEndAt": from.AddDate(0, 0, 7).Format(time.RFC3339),
		"depositUrlGeneration": true, "returnUrl": "http://127.0.0.1:8090/thanks",
	}
	if b.last != "" {
		var person struct{ ID string }
		if err := f.call(ctx, http.MethodPost, "/clients", map[string]any{"accountId": account, "firstName": b.first,
			"lastName": b.last, "email": fmt.Sprintf("tenant-%d@example.com", i), "locale": "en"}, &person); err != nil {
			return err
		}
		body["clientId"] = person.ID
	}
	var made deposit
	if err := f.call(ctx, http.MethodPost, "/deposits", body, &made); err != nil {
		return err
	}
	if b.outcome != "" {
		simulation := map[string]string{"outcome": b.outcome}
		if err := f.call(ctx, http.MethodPost, "/test/deposits/"+made.ID+"/simulate", simulation, &struct{}{}); err != nil {
			return err
		}
	}
	switch {
	case b.claimed > 0:
		return f.call(ctx, http.MethodPost, "/deposits/"+made.ID+"/capture",
			map[string]any{"amount": b.claimed, "reason": "cleaning", "description": "The oven was left dirty."}, &struct{}{})
	case b.outcome == "activate":
		s.active = made
	case b.outcome == "":
		s.pending = made
	}
	return nil
}

var client = world.NewClient(30*time.Second, 1)

// call sends a request of the partner API, and reads the field data of the answer.
func (f facts) call(ctx context.Context, method, path string, body, into any) error {
	call := world.Call{Base: f.APIBaseURL, APIKey: f.APIKey, Method: method, Path: path}
	if body != nil {
		text, err := json.Marshal(body)
		if err != nil {
			return err
		}
		call.Body, call.Key = string(text), uuid.NewString()
	}
	answer := client.Do(ctx, call)
	if !answer.OK() {
		return fmt.Errorf("%s %s: %w", method, path, cmp.Or(answer.Err, errors.New(string(answer.Body))))
	}
	return answer.Into(into)
}

var (
	phone   = chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile)
	desktop = chromedp.EmulateViewport(1120, 840)
)

// shoot takes the pictures.
func (s staged) shoot(light, dark context.Context, f facts) error {
	desk := f.DashboardBaseURL + "/dashboard"
	for _, p := range []struct {
		name     string
		browser  context.Context
		viewport chromedp.Action[chromedp.Void]
		url      string
	}{
		{"desk-today", light, desktop, desk},
		{"desk-deposits-dark", dark, desktop, desk + "/deposits"},
		{"desk-deposit-phone", light, phone, desk + "/deposits/" + s.active.ID},
		{"checkout-phone", light, phone, s.pending.DepositURL},
		{"checkout-phone-dark", dark, phone, s.pending.DepositURL},
		{"mail", light, phone, f.DashboardBaseURL + "/styleguide/mails/en/0/html"},
	} {
		if err := chromedp.Do(p.browser, p.viewport, chromedp.Navigate(p.url), chromedp.WaitVisible("h1")); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
		if err := take(p.browser, p.name); err != nil {
			return fmt.Errorf("%s: %w", p.name, err)
		}
	}
	return nil
}

// take writes what the browser shows as a WebP of maxBytes at most.
func take(browser context.Context, name string) error {
	for quality := int64(90); quality > 30; quality -= 10 {
		picture, err := capture(browser, page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatWebp,
			Quality: &quality})
		if err != nil {
			return err
		}
		if len(picture) <= maxBytes {
			fmt.Printf("%-22s %3d KB\n", name, (len(picture)+1023)/1024)
			return os.WriteFile(filepath.Join(folder, name+".webp"), picture, 0o600)
		}
	}
	return errors.New("the picture is too large at any quality")
}

// capture takes a picture of the part of the page that the window shows.
func capture(browser context.Context, params page.CaptureScreenshotParams) ([]byte, error) {
	surface := true
	params.FromSurface = &surface
	return chromedp.Run(browser, func(ctx context.Context, t *chromedp.Target) ([]byte, error) {
		r, err := cdp.Call(ctx, t, page.CaptureScreenshot, params)
		if err != nil {
			return nil, err
		}
		return r.Data, nil
	})
}
