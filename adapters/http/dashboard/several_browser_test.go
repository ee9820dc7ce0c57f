package dashboard_test

import (
	"context"
	"fmt"
	"strings"

	"github.com/chromedp/chromedp"

	"partnerdeposits/core/site"
)

// sendTicked sends the form of an act on the deposits at the paths, with the token of the page that is open.
func sendTicked(act string, paths ...string) chromedp.Action[chromedp.Void] {
	var fields strings.Builder
	for _, path := range paths {
		fmt.Fprintf(&fields, "<input name=deposit value=%s>", strings.TrimPrefix(path, site.DepositsPath+"/"))
	}
	send := chromedp.Evaluate[bool](fmt.Sprintf(`(() => {
		const form = document.createElement("form");
		[form.method, form.action] = ["post", %q];
		form.innerHTML = "<input name=intent value=%s>%s";
		form.append(document.querySelector("input[name=csrf_token]").cloneNode());
		document.body.append(form);
		form.submit();
		return true;
	})()`, site.DepositsPath, act, &fields))
	return func(ctx context.Context, target *chromedp.Target) (done chromedp.Void, err error) {
		_, err = send(ctx, target)
		return done, err
	}
}
