package docs_test

import (
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/secret"
	"partnerdeposits/docs/guides"
	"partnerdeposits/lab/docstest"
)

// Each code has its place on the page of errors, with its status, why it is seen and what to do.
func TestErrorsPage_TellsEveryCode(t *testing.T) {
	t.Parallel()
	want := connectCodes()
	statuses := statusesOfCodes(t)
	for _, code := range enum(t, "ErrorCode") {
		require.NotContains(t, want, code, "a heading stands for one code")
		want[code] = statuses[code]
	}
	got := map[string]int{}
	page := docstest.ReadFile(t, "docs/guides/errors.md")
	for _, m := range regexp.MustCompile("(?m)^### `(\\w+)`\n\n\\*\\*(\\d{3})\\*\\* ").FindAllStringSubmatch(page, -1) {
		status, err := strconv.Atoi(m[2])
		require.NoError(t, err)
		got[m[1]] = status
		require.Regexp(t, `(?s)[.:] \*\*Do:\*\* [a-z\[].*[.:]`,
			strings.Join(strings.Fields(docstest.ReadSection(t, "docs/guides/errors.md", "`"+m[1]+"`")), " "), m[1])
	}
	require.Equal(t, want, got)
}

// A partner compares its own code with the examples of the page.
func TestConnectPage_ItsExamplesAreSignedAsWeSign(t *testing.T) {
	t.Parallel()
	page := docstest.ReadFile(t, "docs/guides/connect.md")
	example := func(name string) string {
		m := regexp.MustCompile("<!-- " + name + " -->\n```\n(\\w+)\n```").FindStringSubmatch(page)
		require.NotNil(t, m, name)
		return m[1]
	}
	key := secret.Text("svc_cs_EXAMPLE0000000000000000000000")
	require.Contains(t, page, string(key))
	require.Equal(t, connect.SignURL(key, "acme-pms", "hotel-4711", "1780391667"), example("signature"))
	const account, ts = "acct_01jb2m1r6d9f4h8k3n5p7s2v0w", "1780391702"
	require.Equal(t, connect.SignReturnURL(key, connect.OutcomeLinked, account, ts, "hotel-4711"),
		example("return signature"))
}

func TestTestingPage_HasTheCardsAndOutcomesOfTheSandbox(t *testing.T) {
	t.Parallel()
	const page = "docs/guides/testing.md"
	var cards []string
	for _, row := range docstest.TableRows(t, page, "Test cards") {
		cards = append(cards, strings.ReplaceAll(docstest.CodeSpans(row[0])[0], " ", ""))
	}
	var known []string
	for _, m := range regexp.MustCompile(`Card +?= "(\d{16})"`).FindAllStringSubmatch(
		docstest.ReadFile(t, "adapters/payments/sandbox/card.go"), -1) {
		known = append(known, m[1])
	}
	require.Equal(t, known, cards)
	var outcomes []string
	for _, row := range docstest.TableRows(t, page, "Without a browser") {
		outcomes = append(outcomes, docstest.CodeSpans(row[0])...)
	}
	values := []string{}
	for _, v := range document(t).Components.Schemas["SimulateDepositRequest"].Value.Properties["outcome"].Value.Enum {
		values = append(values, v.(string))
	}
	require.Equal(t, values, outcomes)
}

func TestCollectionsPage_HasEveryStatus(t *testing.T) {
	t.Parallel()
	var got []string
	for _, row := range docstest.TableRows(t, "docs/guides/collections.md", "Collection") {
		got = append(got, docstest.CodeSpans(row[0])...)
	}
	var want []string
	for _, v := range document(t).Components.Schemas["Collection"].Value.Properties["status"].Value.Enum {
		want = append(want, v.(string))
	}
	require.Equal(t, want, got)
}

// What a partner reads on the site is the file of the repository.
func TestGuides_ForPartnersAreEmbedded(t *testing.T) {
	t.Parallel()
	names, err := guides.Files.ReadDir(".")
	require.NoError(t, err)
	list, _, found := strings.Cut(docstest.ReadSection(t, "docs/README.md", "Guides"), "For those who run the service")
	require.True(t, found)
	for _, name := range names {
		require.Contains(t, list, "(guides/"+name.Name()+")")
		_, err := os.Stat(filepath.Join(docstest.RepositoryRoot(), "docs/guides", name.Name()))
		require.NoError(t, err)
	}
	require.Len(t, names, strings.Count(list, "(guides/"))
}

// A stay that is over is refused, so the dates that partners copy lie two years ahead. When this test fails, move them.
func TestPagesOfPartners_ExamplesOfADepositHaveAStayToCome(t *testing.T) {
	t.Parallel()
	ends := regexp.MustCompile(`(?i)contract_?end_?at[^0-9\n]{1,30}(20\d\d)`)
	pages, err := filepath.Glob("../docs/guides/*.md")
	require.NoError(t, err)
	libraries, err := filepath.Glob("../sdk/*/README.md")
	require.NoError(t, err)
	found := 0
	for _, page := range slices.Concat(pages, libraries, []string{"../README.md", "../sdk/samples/samples.gen.json"}) {
		text, err := os.ReadFile(page) //nolint:gosec // a page of this repository
		require.NoError(t, err)
		for _, year := range ends.FindAllStringSubmatch(string(text), -1) {
			found++
			require.Greater(t, year[1], strconv.Itoa(time.Now().Year()+1), page)
		}
	}
	require.GreaterOrEqual(t, found, 7, "three libraries with a literal date, and the samples")
}
