package main

import (
	"context"
	"encoding/base64"
	"encoding/json"
	"fmt"

	"github.com/chromedp/cdproto/page"
	"github.com/chromedp/chromedp"
)

// sheets draws each screen in light and dark, as a desktop and a phone show it, on one picture.
func (s staged) sheets(light, dark context.Context, f facts, suffix string) error {
	desk := f.DashboardBaseURL + "/dashboard"
	for _, screen := range []struct{ name, url string }{
		{"today", desk},
		{"list", desk + "/deposits"},
		{"deposit", desk + "/deposits/" + s.active.ID},
		{"claim", desk + "/deposits/" + s.active.ID + "/claim"},
		{"money", desk + "/money"},
		{"checkout", s.pending.DepositURL},
		{"paid", s.active.DepositURL},
	} {
		if err := drawSheet(light, dark, screen.name+"-"+suffix, screen.url); err != nil {
			return fmt.Errorf("%s: %w", screen.name, err)
		}
	}
	return nil
}

// drawSheet draws a sheet: a row in light, and a row in dark.
func drawSheet(light, dark context.Context, name, url string) error {
	var pictures []string
	for _, browser := range []context.Context{light, dark} {
		for _, viewport := range []chromedp.Action[chromedp.Void]{chromedp.EmulateViewport(1280, 844), phone} {
			if err := chromedp.Do(browser, viewport, chromedp.Navigate(url), chromedp.WaitVisible("h1")); err != nil {
				return err
			}
			picture, err := capture(browser, page.CaptureScreenshotParams{Format: page.CaptureScreenshotFormatPng})
			if err != nil {
				return err
			}
			pictures = append(pictures, "data:image/png;base64,"+base64.StdEncoding.EncodeToString(picture))
		}
	}
	all, err := json.Marshal(pictures)
	if err != nil {
		return err
	}
	const draw = `(async () => {
		document.body.style.cssText = "margin: 8px; display: grid; grid-template-columns: max-content max-content; gap: 8px; background: #999";
		document.body.innerHTML = %s.map((src) => '<img style="height: 450px" src="' + src + '">').join("");
		await Promise.all([...document.images].map((image) => image.decode()));
		return "drawn";
	})()`
	if _, err := chromedp.Run(light, chromedp.EmulateViewport(914, 924)); err != nil {
		return err
	}
	if err := chromedp.Do(light, chromedp.Navigate("about:blank")); err != nil {
		return err
	}
	drawn := chromedp.Evaluate[string](fmt.Sprintf(draw, all), chromedp.EvalAwaitPromise)
	if _, err := chromedp.Run(light, drawn); err != nil {
		return err
	}
	return take(light, name)
}
