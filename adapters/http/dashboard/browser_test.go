package dashboard_test

import (
	"cmp"
	"context"
	"go/ast"
	"go/parser"
	"go/token"
	"net/http"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/chromedp/chromedp"
	"github.com/stretchr/testify/require"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/site"
	"partnerdeposits/lab/browsertest"
	"partnerdeposits/lab/connecttest"
	"partnerdeposits/lab/rarely"
)

// viewports are a phone and a desktop.
var viewports = map[string]chromedp.Action[chromedp.Void]{
	"phone":   chromedp.EmulateViewport(390, 844, chromedp.EmulateMobile),
	"desktop": chromedp.EmulateViewport(1280, 900),
}

// signIn signs a new operator up through a connect URL, in the browser, and gives the account.
func signIn(ctx context.Context, t *testing.T, s *connecttest.Server, email string) connect.Account {
	t.Helper()
	require.NoError(t, chromedp.Do(ctx,
		chromedp.Navigate(s.URL+"/register?"+
			connecttest.SignedQuery(key, "demo", "op-"+email[:1], unix(s), "&name=Chalets+du+Lac")),
		chromedp.SetValue("#email", email), chromedp.SetValue("#password", "correct horse battery"),
		chromedp.Click("button.main"), chromedp.WaitVisible("nav.desk"),
	))
	_, account, err := s.Postgres.Operators.OperatorByEmail(t.Context(), email)
	require.NoError(t, err)
	return account
}

func ask(ctx context.Context, t *testing.T, expression string) string {
	t.Helper()
	browsertest.AwaitLoaded(ctx, t)
	answer, err := chromedp.Run(ctx, chromedp.Evaluate[string](expression))
	require.NoError(t, err)
	return answer
}

// Two photos go with a capture, in both languages: three clicks from the deposit's page, beside typing and choosing.
func TestBrowser_ACaptureWithTwoPhotos(t *testing.T) {
	t.Parallel()
	var photos []string
	for _, name := range []string{"oven.jpg", "Four cassé.jpg"} {
		path := filepath.Join(t.TempDir(), name)
		require.NoError(t, os.WriteFile(path, photo(t, name).content, 0o600))
		photos = append(photos, path)
	}
	says := map[string][]string{"en": {"become part of the deposit’s evidence", "Files added: 2"},
		"fr": {"s’ajoutent aux preuves", "Fichiers ajoutés\u00a0: 2"}}
	for scheme, device := range map[string]string{"light": "desktop", "dark": "phone"} {
		t.Run(device, func(t *testing.T) {
			t.Parallel()
			lang := browsertest.LanguageByColorScheme[scheme]
			s := connecttest.New(t, connecttest.Options{})
			p := s.CreatePartner("demo")
			browser := browsertest.New(t, browsertest.ColorSchemes[scheme]...)
			require.NoError(t, chromedp.Do(browser, viewports[device], browsertest.DisableScripts))
			account := signIn(browser, t, s, "a@b.example")
			reference := deposits(t, s, p, account.ID, 1)[0]
			secured(t, s, reference, 48*time.Hour)
			picture := func(name string) { browsertest.RequireUsablePage(browser, t, name+"-"+lang+"-"+scheme+"-"+device) }
			require.NoError(t, chromedp.Do(browser,
				chromedp.Navigate(s.URL+pathOf(t, s, reference)+"?lang="+lang), chromedp.Click("#capture a"),
				chromedp.WaitVisible("#capture-files"),
				chromedp.SetValue("#capture-amount", "80"), chromedp.SetUploadFiles("#capture-files", photos),
			))
			picture("files-chosen")
			require.NoError(t, chromedp.Do(browser, chromedp.Click("#capture button"), chromedp.WaitVisible("button.danger")))
			require.Contains(t, ask(browser, t, "document.querySelector('main').textContent"), says[lang][0])
			require.Contains(t, ask(browser, t, "document.querySelector('ul.files').textContent"), "Four cassé.jpg")
			picture("files-confirm")
			require.NoError(t, chromedp.Do(browser, chromedp.Click("button.danger"), chromedp.WaitVisible(".notice")))
			require.Contains(t, ask(browser, t, "document.querySelector('.timeline').textContent"), says[lang][1])
			require.Equal(t, "2", ask(browser, t, "String(document.querySelectorAll('ul.files a[download]').length)"))
			picture("files-added")
			require.Equal(t, 2, s.Count("deposit_files", "added_at IS NOT NULL"))
		})
	}
}

// asked opens the page that asks once more before an act without fields of its own.
func asked(page, intent string) chromedp.Action[chromedp.Void] {
	return chromedp.Steps(
		chromedp.Navigate(page), chromedp.Click("#"+intent+" summary"), chromedp.WaitVisible("#"+intent+" button"),
		chromedp.Click("#"+intent+" button"), chromedp.WaitVisible("button.danger.whole"))
}

// step leads a browser to a page.
type step struct {
	name string
	do   chromedp.Action[chromedp.Void]
}

// requireLooks takes the steps in the language of a colour scheme, and looks at each page on a phone and a desktop.
func requireLooks(browser context.Context, t *testing.T, base, scheme string, steps []step) {
	t.Helper()
	lang := browsertest.LanguageByColorScheme[scheme]
	require.NoError(t, chromedp.Do(browser, chromedp.Navigate(base+"/dashboard?lang="+lang)))
	for _, step := range steps {
		require.NoError(t, chromedp.Do(browser, step.do), step.name)
		for device, viewport := range viewports {
			require.NoError(t, chromedp.Do(browser, viewport, browsertest.DisableScripts))
			name := step.name + "-" + lang + "-" + scheme + "-" + device
			require.Equal(t, lang, ask(browser, t, "document.documentElement.lang"), name)
			browsertest.RequireUsablePage(browser, t, name)
		}
	}
}

// Every page is pictured, and read by a script that looks for what a person could not see, reach or press.
func TestBrowser_EveryPageInBothSchemesAndLanguages_IsAccessible(t *testing.T) {
	t.Parallel()
	if !rarely.MustRun(t, rarely.PageTests) {
		return
	}
	for scheme, first := range browsertest.ColorSchemes {
		t.Run(scheme, func(t *testing.T) {
			t.Parallel()
			s := connecttest.New(t, connecttest.Options{})
			p := s.CreatePartner("demo")
			browser := browsertest.New(t, first...)
			require.NoError(t, chromedp.Do(browser, viewports["phone"]))
			account := signIn(browser, t, s, "a@b.example")
			made := deposits(t, s, p, account.ID, 11)
			refusedClaim(t, s, made[6])
			change(t, s, `UPDATE collections SET asked_at = NULL`)
			secured(t, s, made[0], 48*time.Hour)
			change(t, s, `UPDATE deposits SET client_id = (SELECT id FROM clients), locale = 'en' WHERE reference = $1`, made[0])
			secured(t, s, made[4], 24*time.Hour)
			change(t, s, `UPDATE deposits SET contract_end_at = expires_at + interval '9 days' WHERE reference = $1`, made[4])
			secured(t, s, made[5], 900*time.Hour)
			refused(t, s, made[1])
			begins(t, s, made[4], 900*time.Hour)
			ofTenant(t, s, made[3], "Ada-Augusta Wilhelmina", "Byron-King García López", "ada@example.com")
			captured(t, s, made[2], 12_000)
			moneyOfMay(t, s, made[7:])
			known(t, s, made[1], "ada@lovelace.example")
			known(t, s, made[4], "a.rather.long.address.of.a.tenant@a-rather-long-domain.example")
			require.Equal(t, map[string]string{"light": "false", "dark": "true"}[scheme],
				ask(browser, t, `String(matchMedia("(prefers-color-scheme: dark)").matches)`))
			steps := []step{
				{"today", chromedp.Navigate(s.URL + "/dashboard")},
				{"deposits", chromedp.Navigate(s.URL + "/dashboard/deposits?status=pending")},
				{"deposits-mistake", chromedp.Navigate(s.URL + "/dashboard/deposits?from=x")},
				{"deposit-pending", chromedp.Navigate(s.URL + pathOf(t, s, made[3]))},
				{"deposit-captured", chromedp.Navigate(s.URL + pathOf(t, s, made[2]))},
				{"claim-refused", chromedp.Navigate(s.URL + pathOf(t, s, made[6]))},
				{"claim-settled-confirm", asked(s.URL+pathOf(t, s, made[6]), "settled_elsewhere")},
				{"claim-withdraw-confirm", asked(s.URL+pathOf(t, s, made[6]), "withdraw_claim")},
				{"claim-remind-confirm", chromedp.Steps(chromedp.Navigate(s.URL+pathOf(t, s, made[6])),
					chromedp.Click("#remind button"), chromedp.WaitReady(question))},
				{"deposit-active", chromedp.Navigate(s.URL + pathOf(t, s, made[0]))},
				{"deposit-falls-short", chromedp.Navigate(s.URL + pathOf(t, s, made[4]))},
				{"capture", chromedp.Navigate(s.URL + pathOf(t, s, made[0]) + "/claim")},
				{"capture-mistake", chromedp.Steps(chromedp.Click("#capture button"), chromedp.WaitVisible("[role=alert]"),
					chromedp.WaitVisible("#capture-amount:focus"))}, // the first mistake has the focus
				{"capture-confirm", chromedp.Steps(chromedp.SetValue("#capture-amount", "100"),
					chromedp.Click("#capture-reason-damage"), chromedp.SetValue("#capture-description", "The oven\nand a window"),
					chromedp.Click("#capture button"), chromedp.WaitVisible("button.danger"))},
				{"release-confirm", asked(s.URL+pathOf(t, s, made[0]), "release")},
				{"add-files", chromedp.Steps(chromedp.Navigate(s.URL+pathOf(t, s, made[2])), chromedp.Click("#add_files summary"),
					chromedp.WaitVisible("#add_files-files"))},
				{"cancel-confirm", asked(s.URL+pathOf(t, s, made[3]), "cancel")},
				{"send-link", chromedp.Steps(
					chromedp.Navigate(s.URL+pathOf(t, s, made[3])),
					chromedp.SetValue("#send_link-email", "grace@example.com"), chromedp.Click("#send_link button"),
					chromedp.WaitReady(question))},
				{"several-confirm", chromedp.Steps(chromedp.Navigate(s.URL+"/dashboard/deposits"),
					sendTicked("send_links", pathOf(t, s, made[4]), pathOf(t, s, made[1]), pathOf(t, s, made[3]),
						pathOf(t, s, made[0])),
					chromedp.WaitVisible("button.main"))},
				{"several-done", chromedp.Steps(chromedp.Click("button.main"), chromedp.WaitNotPresent("button.main"),
					chromedp.WaitVisible("#mailed"))},
				{"several-nobody", chromedp.Steps(chromedp.Navigate(s.URL+"/dashboard/deposits"),
					sendTicked("remind_all", pathOf(t, s, made[0]), pathOf(t, s, made[2])), chromedp.WaitVisible("#left"))},
				{"new", chromedp.Navigate(s.URL + "/dashboard/deposits/new")},
				{"new-mistake", chromedp.Steps(chromedp.SetValue("#amount", "60"), chromedp.SetValue("#startsOn", "2031-07-01"),
					chromedp.SetValue("#endsOn", "2031-07-08"), chromedp.Click("button.main"),
					chromedp.WaitVisible("[role=alert]"))},
				{"money", chromedp.Navigate(s.URL + "/dashboard/money")},
				{"money-month", chromedp.Navigate(s.URL + "/dashboard/money?month=2026-05")},
				{"money-mistake", chromedp.Navigate(s.URL + "/dashboard/money?month=x")},
				{"partner", chromedp.Navigate(s.URL + "/dashboard/partner")},
				{"unlink-confirm", chromedp.Steps(chromedp.Click("button.danger"), chromedp.WaitVisible("button.whole"))},
			}
			requireLooks(browser, t, s.URL, scheme, steps)
		})
	}
}

// pictured gives the text of the browser tests that look at their pages; others only pass through them.
func pictured(t *testing.T) (all string) {
	t.Helper()
	names, err := filepath.Glob("*browser*_test.go")
	require.NoError(t, err)
	for _, name := range names {
		text, err := os.ReadFile(name)
		require.NoError(t, err)
		fset := token.NewFileSet()
		file, err := parser.ParseFile(fset, name, text, 0)
		require.NoError(t, err)
		for _, d := range file.Decls {
			f, ok := d.(*ast.FuncDecl)
			if !ok || !strings.HasPrefix(f.Name.Name, "TestBrowser_") {
				continue
			}
			body := string(text[fset.Position(f.Pos()).Offset:fset.Position(f.End()).Offset])
			if strings.Contains(body, "browsertest.LooksRight(") || strings.Contains(body, "requireLooks(") {
				all += body
			}
		}
	}
	return all
}

// A page that no step opens is looked at by nobody: its contrast, focus and width are untested. A new page gets a step
// in TestBrowser_EveryPageInBothSchemesAndLanguages_IsAccessible.
func TestEveryDeskPage_HasAStepOfTheBrowser(t *testing.T) {
	t.Parallel()
	steps := pictured(t)
	opened := map[string]string{site.DepositPath: `Navigate\(s\.URL ?\+ ?pathOf\(`, site.ClaimPath: `\) \+ "/claim"\)`,
		site.ConfirmDepositPath: `"capture-confirm"`, site.RetryNewDepositPath: `"new-mistake"`, site.ConfirmBulkActionPath: `"several-confirm"`}
	pages := 0
	for _, r := range routes() {
		downloads := []string{site.DepositFilePath, site.DepositsExportPath, site.MoneyExportPath}
		if r[0] != http.MethodGet || slices.Contains(downloads, r[1]) {
			continue
		}
		pages++
		step := cmp.Or(opened[r[1]], `Navigate\(s\.URL ?\+ ?"`+regexp.QuoteMeta(r[1])+`["?]`)
		require.True(t, regexp.MustCompile(step).MatchString(steps), "no browser opens %s and looks at it", r[1])
	}
	require.Greater(t, pages, 5)
}
