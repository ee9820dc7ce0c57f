package main

import (
	"context"
	"errors"
	"fmt"
	"net/http"
	"regexp"
	"slices"
	"strings"
	"time"

	"partnerdeposits/adapters/passwords"
	"partnerdeposits/adapters/totp"
	"partnerdeposits/core/secret"
	"partnerdeposits/core/twofactor"
	"partnerdeposits/lab/formbrowser"
	"partnerdeposits/lab/world"
	accountports "partnerdeposits/ports/accounts"
)

// partnerSite is where tenants end who have paid.
const partnerSite = "https://partner.test"

// newBrowser gives the browser of an operator or a tenant.
func newBrowser() *formbrowser.Browser {
	const patience = 30 * time.Second
	return formbrowser.New(patience, formbrowser.Site{RoundTripper: &http.Transport{}, Origin: partnerSite})
}

// secured makes a deposit whose tenant has paid the fee.
func (in *installation) secured(ctx context.Context, p world.Partner) (deposit, error) {
	d, err := in.create(ctx, p, `,"depositUrlGeneration":true,"returnUrl":"`+partnerSite+`/back"`)
	if err != nil {
		return d, err
	}
	b := newBrowser()
	page, err := b.Get(ctx, d.DepositURL)
	if err != nil {
		return d, err
	}
	tenant := map[string]string{"firstName": "Ada", "lastName": "Lovelace", "email": "ada@example.com", "agree": "yes"}
	if page, err = b.Submit(ctx, page, "agree", tenant); err != nil {
		return d, err
	}
	card := map[string]string{"cardNumber": "4242424242424242", "cardExpiry": "12/39", "cardCvc": "123"}
	if _, err = b.Submit(ctx, page, "cardNumber", card); err != nil {
		return d, err
	}
	return d, in.await(ctx, `SELECT status = 'active' FROM deposits WHERE id = $1`, d.number)
}

// desk is an operator at the pages, with an authenticator app.
type desk struct {
	browser *formbrowser.Browser
	app     secret.Text
}

// code is the code of the app, so many steps from now.
func (o *desk) code(steps int64) (string, error) {
	return totp.Codes{}.Code(o.app, twofactor.StepAt(time.Now())+steps)
}

// send sends the form of an intent.
func (o *desk) send(
	ctx context.Context, page formbrowser.Page, intent string, values map[string]string,
) (formbrowser.Page, error) {
	page.Forms = slices.DeleteFunc(slices.Clone(page.Forms), func(f formbrowser.Form) bool {
		return f.Fields.Get("intent") != intent
	})
	next, err := o.browser.Submit(ctx, page, "intent", values)
	if err == nil && next.Status != http.StatusOK {
		err = fmt.Errorf("the form %s was answered %d", intent, next.Status)
	}
	return next, err
}

// email is the address of a partner's operator, as world.NewPartner makes it.
func email(p world.Partner) string { return p.Name + "@example.com" }

// shownSecret is the secret of an app as the page of two-factor codes shows it, in groups.
var shownSecret = regexp.MustCompile(`<code[^>]*>([A-Z2-7 ]+)</code>`)

// signIn gives the partner's operator a password, signs in, and turns two-factor codes on.
func (in *installation) signIn(ctx context.Context, p world.Partner) (*desk, error) {
	const password = "correct horse battery"
	hasher, err := passwords.New()
	if err != nil {
		return nil, err
	}
	hash, err := hasher.Hash(ctx, password, accountports.Turn{})
	if err != nil {
		return nil, err
	}
	const set = `UPDATE operators SET password_hash = $2 WHERE email = $1`
	if _, err := in.Pool.Exec(ctx, set, email(p), hash); err != nil {
		return nil, err
	}
	o := &desk{browser: newBrowser()}
	page, err := o.browser.Get(ctx, in.http.Base+"/login")
	if err != nil {
		return nil, err
	}
	login := map[string]string{"email": email(p), "password": password}
	if _, err = o.browser.Submit(ctx, page, "password", login); err != nil {
		return nil, err
	}
	if page, err = o.browser.Get(ctx, in.http.Base+"/dashboard/settings"); err != nil {
		return nil, err
	}
	if page, err = o.send(ctx, page, "enable_totp", map[string]string{"currentPassword": password}); err != nil {
		return nil, err
	}
	shown := shownSecret.FindSubmatch(page.Body)
	if shown == nil {
		return nil, errors.New("the page shows no secret for an app")
	}
	o.app = secret.Text(strings.ReplaceAll(string(shown[1]), " ", ""))
	code, err := o.code(0)
	if err == nil {
		_, err = o.send(ctx, page, "confirm_totp", map[string]string{"code": code})
	}
	return o, err
}
