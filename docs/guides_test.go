package docs_test

import (
	"go/ast"
	"go/parser"
	"go/token"
	"maps"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/docstest"
	"partnerdeposits/process/config"
)

// TestGuides_NameTestsThatExist keeps the promise of a guide that a test names a forgotten place.
func TestGuides_NameTestsThatExist(t *testing.T) {
	declared := regexp.MustCompile(`(?m)^func (Test\w+)\(`)
	known := map[string]bool{}
	for _, file := range files(t, "_test.go") {
		for _, m := range declared.FindAllStringSubmatch(docstest.ReadFile(t, file), -1) {
			known[m[1]] = true
		}
	}
	named := 0
	for _, page := range files(t, ".md") {
		if page != "docs/guides/adding.md" {
			continue
		}
		for _, test := range regexp.MustCompile(`\bTest[A-Z]\w+`).FindAllString(docstest.ReadFile(t, page), -1) {
			named++
			names := slices.Collect(maps.Keys(known))
			found := known[test] || strings.HasSuffix(test, "_") && slices.ContainsFunc(names, func(name string) bool {
				return strings.HasPrefix(name, test) // `TestAnswers_…` names a family
			})
			require.True(t, found, "%s names %s, which does not exist", page, test)
		}
	}
	require.Greater(t, named, 10)
}

func TestGuides_StandInTheEntrance(t *testing.T) {
	entrance := linksOf("docs/README.md", docstest.ReadFile(t, "docs/README.md"))
	for _, page := range files(t, ".md") {
		if strings.HasPrefix(page, "docs/guides/") {
			require.True(t, slices.Contains(entrance, [2]string{page, ""}), "docs/README.md does not list %s", page)
		}
	}
}

// realProviders are the payment providers that take money.
func realProviders() []string {
	return slices.DeleteFunc(slices.Clone(config.PaymentsProviders), func(name string) bool {
		return name == config.PaymentsSandbox || name == config.PaymentsNone
	})
}

// Files beside the adapter that may name a payment provider (docs/guides/adding.md).
var providerFiles = []string{
	"process/config/config.go", "process/config/payments.go", "process/config/forms.go", // settings
	"process/services/payments.go",                                            // the choice
	"cmd/sandbox/fakestripe.go", "cmd/sandbox/lean.go", "cmd/sandbox/main.go", // the fake for `make run`
}

func TestProviders_AreNamedInTheirPlacesAlone(t *testing.T) {
	for _, provider := range realProviders() {
		for _, file := range files(t, ".go") {
			floor, _, _ := strings.Cut(file, "/")
			if !slices.Contains(docstest.LayerFolders(), floor) || strings.HasSuffix(file, "_test.go") ||
				strings.HasPrefix(file, "adapters/payments/"+provider+"/") || slices.Contains(providerFiles, file) {
				continue
			}
			found := naming(t, file, provider)
			require.Empty(t, found, "%s names the payment provider %s: its port should give this", file, provider)
		}
	}
}

// naming gives the identifiers and texts of a file that contain a word; comments may.
func naming(t *testing.T, file, word string) (found []string) {
	t.Helper()
	parsed, err := parser.ParseFile(token.NewFileSet(), filepath.Join(docstest.RepositoryRoot(), file), nil, 0)
	require.NoError(t, err)
	ast.Inspect(parsed, func(n ast.Node) bool {
		var text string
		switch n := n.(type) {
		case *ast.Ident:
			text = n.Name
		case *ast.BasicLit:
			text = n.Value
		}
		if strings.Contains(strings.ToLower(text), word) {
			found = append(found, text)
		}
		return true
	})
	return found
}

// A name without an adapter is offered in vain, and an adapter without a name is never chosen.
func TestProviders_AreTheAdapters(t *testing.T) {
	entries, err := os.ReadDir(filepath.Join(docstest.RepositoryRoot(), "adapters/payments"))
	require.NoError(t, err)
	var adapters []string
	for _, e := range entries {
		if e.IsDir() {
			adapters = append(adapters, e.Name())
		}
	}
	require.ElementsMatch(t, adapters, config.PaymentsProviders)
}

func TestProviders_HaveEveryPlace(t *testing.T) {
	for _, provider := range realProviders() {
		adapter := "adapters/payments/" + provider
		_, err := os.Stat(filepath.Join(docstest.RepositoryRoot(), adapter))
		require.NoError(t, err, "the adapter")
		var code, tests, wire string
		for _, file := range files(t, ".go") {
			switch {
			case strings.HasPrefix(file, "process/services/"):
				wire += docstest.ReadFile(t, file)
			case !strings.HasPrefix(file, adapter+"/"):
			case strings.HasSuffix(file, "_test.go"):
				tests += docstest.ReadFile(t, file)
			default:
				code += docstest.ReadFile(t, file)
			}
		}
		require.Contains(t, tests, "portstest.RequirePaymentProvider(", "the contract test in %s", adapter)
		require.Contains(t, wire, `"partnerdeposits/`+adapter+`"`, "the choice in process/services")
		if strings.Contains(code, "site.ProviderCallbacks") {
			for _, page := range []string{operationsPage, "docs/spec/payments.md"} {
				require.Contains(t, docstest.ReadFile(t, page), "POST /webhooks/payments/"+provider, page)
			}
		}
		require.Contains(t, docstest.ReadFile(t, operationsPage), "`PAYMENTS_PROVIDER="+provider+"`", operationsPage)
	}
}

// The debugging guide names log messages as they stand in the code. "…" stands for the rest of a message.
func TestDebugging_NamesLogMessagesOfTheCode(t *testing.T) {
	var source strings.Builder
	for _, file := range files(t, ".go") {
		if floor, _, _ := strings.Cut(file, "/"); slices.Contains(docstest.LayerFolders(), floor) &&
			!strings.HasSuffix(file, "_test.go") {
			source.WriteString(docstest.ReadFile(t, file))
		}
	}
	quoted := regexp.MustCompile("`\"([^`\n]+)\"`").FindAllStringSubmatch(docstest.ReadFile(t, "docs/guides/debugging.md"), -1)
	require.Greater(t, len(quoted), 10)
	for _, m := range quoted {
		begin, cut := strings.CutSuffix(m[1], "…")
		timer, failed := strings.CutSuffix(m[1], " failed")
		require.True(t, strings.Contains(source.String(), `"`+m[1]+`"`) ||
			cut && regexp.MustCompile(`"`+begin+`" ?\+`).MatchString(source.String()) ||
			failed && strings.Contains(source.String(), `"`+timer+`"`) && strings.Contains(source.String(), `+" failed"`),
			"no process logs %q", m[1])
	}
}
