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
	bookings := []struct {
		name           string
		amount, starts int
		outcome        string
	}{
		{"BOOKING-2041", 450, 20, "activate"}, {"BOOKING-2042", 1250, 3, "activate"}, {"BOOKING-2043", 300, 9, ""},
		{"BOOKING-2044", 600, 12, "fail_payment"}, {"BOOKING-2045", 500, 6, ""},
	}
	for _, b := range bookings {
		var made deposit
		from := time.Now().AddDate(0, 0, b.starts).UTC().Truncate(24 * time.Hour)
		if err := f.call(ctx, http.MethodPost, "/deposits", map[string]any{
			"accountId": account, "amount": b.amount, "rentalContract": b.name, "contractStartAt": from.Format(time.RFC3339),
			"contractEndAt": from.AddDate(0, 0, 7).Format(time.RFC3339), "depositUrlGeneration": true,
			"returnUrl": "http://127.0.0.1:8090/thanks",
		}, &made); err != nil {
			return s, err
		}
		if b.outcome != "" {
			simulation := map[string]string{"outcome": b.outcome}
			if err := f.call(ctx, http.MethodPost, "/test/deposits/"+made.ID+"/simulate", simulation, &struct{}{}); err != nil {
				return s, err
			}
		}
		if b.outcome == "activate" {
			s.active = made
		}
		s.pending = made
	}
	return s, nil
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
		picture, err := chromedp.Run(browser, func(ctx context.Context, t *chromedp.Target) ([]byte, error) {
			surface := true
			r, err := cdp.Call(ctx, t, page.CaptureScreenshot,
				page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatWebp, Quality: &quality, FromSurface: &surface})
			if err != nil {
				return nil, err
			}
			return r.Data, nil
		})
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
