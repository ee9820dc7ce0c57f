package http_test

import (
	"go/ast"
	"go/constant"
	"go/parser"
	"go/token"
	"go/types"
	"io/fs"
	"log/slog"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/stretchr/testify/assert"
	"github.com/stretchr/testify/require"

	serverhttp "partnerdeposits/adapters/http"
	"partnerdeposits/adapters/http/caughtmails"
	"partnerdeposits/adapters/http/middleware"
	"partnerdeposits/adapters/http/partnerapi"
	"partnerdeposits/adapters/payments/sandbox"
	"partnerdeposits/adapters/payments/stripe"
	"partnerdeposits/app/payments/callbacks"
	"partnerdeposits/core/site"
	"partnerdeposits/lab/docstest"
	"partnerdeposits/lab/mailbook"
	ports "partnerdeposits/ports/platform"
)

const root = "../../"

// caught stands for a store; mounting a page calls nothing.
type caught struct{ ports.CaughtMailReader }

type route struct{ surface, path, method string }

// routes are those of the public server with all that may be mounted.
func routes(t *testing.T) (all []route) {
	t.Helper()
	_, err := serverhttp.New(serverhttp.Config{
		Log:   slog.New(slog.DiscardHandler),
		Route: func(surface, path, method string) { all = append(all, route{surface, path, method}) },
	}, serverhttp.SurfaceDeps{
		PartnerAPI:  partnerapi.Deps{BaseURL: "https://api.example"},
		Egress:      []string{"203.0.113.7/32"},
		CaughtMails: &caughtmails.Deps{Mails: caught{}},
		Callbacks:   callbacks.New(callbacks.Deps{Callbacks: &stripe.Provider{}}),
		Payments:    func(r fiber.Router) { sandbox.Mount(r, nil) },
	})
	require.NoError(t, err)
	return all
}

// paths are the constants of the map, by name.
func paths(t *testing.T) map[string]string {
	t.Helper()
	files := token.NewFileSet()
	file, err := parser.ParseFile(files, root+"core/site/site.go", nil, 0)
	require.NoError(t, err)
	// without its imports
	checked, _ := (&types.Config{Error: func(error) {}}).Check("site", files, []*ast.File{file}, nil)
	found := map[string]string{}
	for _, name := range checked.Scope().Names() {
		if c, ok := checked.Scope().Lookup(name).(*types.Const); ok {
			found[name] = constant.StringVal(c.Val())
		}
	}
	require.Equal(t, site.CheckoutReturnPath, found["CheckoutReturnPath"])
	return found
}

// Folders whose files stand under names with a hash of their content.
var folders = []string{site.AssetsPath + "/", site.SandboxAssetsPath + "/", site.DocsPath + "/"}

func TestPages_HaveTheirPathsFromTheMap_WhichHasNoOther(t *testing.T) {
	t.Parallel()
	known := paths(t)
	all := routes(t)
	for _, r := range all {
		inFolder := slices.ContainsFunc(folders, func(folder string) bool { return strings.HasPrefix(r.path, folder) })
		if r.surface == middleware.SurfaceAPI || r.surface == middleware.SurfacePayments || inFolder {
			continue
		}
		require.True(t, slices.Contains(mapValues(known), r.path), "%s %s is no path of core/site", r.method, r.path)
	}
	for name, path := range known {
		mounted := slices.ContainsFunc(all, func(r route) bool { return strings.HasPrefix(r.path, path) })
		require.True(t, mounted, "site.%s: no page is mounted at %s", name, path)
	}
}

func mapValues(m map[string]string) (values []string) {
	for _, v := range m {
		values = append(values, v)
	}
	return values
}

// Pages beside those of people: surfaces are the parts of the service that metrics count apart.
func TestPages_BelongToASurface_ButForThoseOfDevelopmentAndFiles(t *testing.T) {
	t.Parallel()
	others := []string{site.HomePath, site.LogOutPath, site.FaviconPath, site.AssetsPath + "/", "/sandbox/"}
	for _, r := range routes(t) {
		if r.surface != middleware.SurfaceOther {
			continue
		}
		require.True(t, slices.ContainsFunc(others, func(o string) bool {
			return r.path == o || o != site.HomePath && strings.HasPrefix(r.path, o)
		}), "%s %s has no surface in middleware/surface.go", r.method, r.path)
	}
}

// A path in a source file is a text that begins with the first part of a page's path.
func TestPaths_AreWrittenInTheMapAlone(t *testing.T) {
	t.Parallel()
	tops := []string{site.ProviderCallbacksPath + `\w`} // the partner API has other paths that begin with site.Incoming
	for _, path := range paths(t) {
		if top := "/" + strings.Split(path, "/")[1]; path != site.HomePath && !strings.HasPrefix(path,
			site.IncomingCallbacksPathPrefix) {
			tops = append(tops, regexp.QuoteMeta(top))
		}
	}
	path := regexp.MustCompile(`^((GET|POST) )?(` + strings.Join(tops, "|") + `)([/?#.]|$)`)
	inTemplate := regexp.MustCompile(`(href|action|src)="/|SafeURL\("/`)
	for _, dir := range docstest.LayerFolders() {
		require.NoError(t, filepath.WalkDir(root+dir, func(name string, d fs.DirEntry, err error) error {
			if err != nil || d.IsDir() || strings.HasSuffix(name, "_test.go") || filepath.Dir(name) == root+"core/site" ||
				filepath.Dir(name) == root+"adapters/http/partnerapi" { // its paths stand behind its prefix
				return err
			}
			switch filepath.Ext(name) {
			case ".templ":
				content, err := os.ReadFile(name)
				require.NoError(t, err)
				require.NotRegexp(t, inTemplate, string(content), name)
			case ".go":
				for _, text := range texts(t, name) {
					assert.NotRegexp(t, path, text, "%s: this path belongs to core/site", name)
				}
			}
			return nil
		}))
	}
}

// texts are the string literals of a Go file that nobody generated.
func texts(t *testing.T, name string) (found []string) {
	t.Helper()
	file, err := parser.ParseFile(token.NewFileSet(), name, nil, parser.ParseComments)
	require.NoError(t, err)
	if ast.IsGenerated(file) {
		return nil
	}
	ast.Inspect(file, func(n ast.Node) bool {
		if literal, ok := n.(*ast.BasicLit); ok && literal.Kind == token.STRING {
			text, err := strconv.Unquote(literal.Value)
			require.NoError(t, err)
			found = append(found, text)
		}
		return true
	})
	return found
}

func TestMails_LeadToPagesThatExist(t *testing.T) {
	t.Parallel()
	const base = "https://desk.invalid"
	all, links := routes(t), 0
	for _, locale := range mailbook.Locales {
		for _, s := range mailbook.SampleMails(locale, base, time.Date(2026, 7, 1, 12, 0, 0, 0, time.UTC)) {
			for _, link := range regexp.MustCompile(regexp.QuoteMeta(base)+`[^\s"<>)]*`).FindAllString(s.Mail.Body, -1) {
				u, err := url.Parse(link)
				require.NoError(t, err)
				exists := slices.ContainsFunc(all, func(r route) bool {
					return r.method == fiber.MethodGet && fiber.RoutePatternMatch(u.Path, r.path)
				})
				require.True(t, exists, "%s leads to %s, where no page is", s.Name, u.Path)
				links++
			}
		}
	}
	require.Greater(t, links, 30)
}
