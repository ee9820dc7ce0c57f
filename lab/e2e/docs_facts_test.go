package e2e_test

import (
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/core/webhook"
	"partnerdeposits/lab/docstest"
	"partnerdeposits/lab/pgtest"
)

// productionSource is the Go code of the service, without tests.
func productionSource(t testing.TB) string {
	t.Helper()
	var all strings.Builder
	for _, folder := range docstest.Floors() {
		require.NoError(t,
			filepath.WalkDir(filepath.Join(repository(), folder), func(path string, _ fs.DirEntry, err error) error {
				if err != nil || !strings.HasSuffix(path, ".go") || strings.HasSuffix(path, "_test.go") {
					return err
				}
				content, err := os.ReadFile(path)
				all.Write(content)
				return err
			}))
	}
	return all.String()
}

var (
	metricName = regexp.MustCompile(`^svc_[a-z_]+`)
	logMessage = regexp.MustCompile(`^"(.*)"$`)
	sqlBlock   = regexp.MustCompile("(?s)```sql\n(.*?)```")
	psqlName   = regexp.MustCompile(`:'(\w+)'`)
)

// credentials are prefixes that read like metric names.
var credentials = []string{"svc_pk_", "svc_cs_", "svc_whsec_"}

// TestDocs_MetricsAndLogMessagesAreThoseOfTheCode looks for every metric of the pages, and for every log message of the
// debugging guide, as a string in the code.
func TestDocs_MetricsAndLogMessagesAreThoseOfTheCode(t *testing.T) {
	t.Parallel()
	source := productionSource(t)
	metrics, messages := 0, 0
	for page, text := range docPages(t) {
		for _, code := range inlineCode.FindAllStringSubmatch(text, -1) {
			name := metricName.FindString(code[1])
			for _, prefix := range credentials {
				if strings.HasPrefix(name, prefix) {
					name = ""
				}
			}
			if name != "" {
				metrics++
				require.Contains(t, source, `"`+name+`"`, "%s names a metric that does not exist", page)
			}
			if message := logMessage.FindStringSubmatch(code[1]); message != nil && page == debuggingPage {
				messages++
				found := strings.Contains(source, `"`+message[1]+`"`)
				if begin, cut := strings.CutSuffix(message[1], "…"); cut {
					found = strings.Contains(source, `"`+begin+`"+`) || strings.Contains(source, `"`+begin+`" +`)
				}
				if begin, cut := strings.CutSuffix(message[1], " failed"); cut && !found { // the name of a timer
					found = strings.Contains(source, `"`+begin+`"`) && strings.Contains(source, `+" failed"`)
				}
				require.True(t, found, "%s names a log message that does not exist: %s", page, message[1])
			}
		}
	}
	require.Greater(t, metrics, 20)
	require.Greater(t, messages, 10)
}

// TestDocs_QueriesRun runs every query of the pages on a database with the current schema.
func TestDocs_QueriesRun(t *testing.T) {
	t.Parallel()
	conn, err := pgx.Connect(t.Context(), pgtest.URL(t))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close(t.Context()) })
	values := map[string]string{"reference": "D-7K3M-9Q2X", "slug": "acme", "email": "tech@acme.example",
		"id": "pwh_01jb2m4q8e7w9x3c5v6b7n8m9a"}
	ran := 0
	for page, text := range docPages(t) {
		for _, block := range sqlBlock.FindAllStringSubmatch(text, -1) {
			query := psqlName.ReplaceAllStringFunc(block[1], func(variable string) string {
				value, known := values[psqlName.FindStringSubmatch(variable)[1]]
				require.True(t, known, "%s: %s", page, variable)
				return "'" + value + "'"
			})
			_, err := conn.Exec(t.Context(), query)
			require.NoError(t, err, "%s: %s", page, query)
			ran++
			if strings.Contains(query, "-- query: uuid of an id") {
				var uuid [16]byte
				require.NoError(t, conn.QueryRow(t.Context(), query).Scan(&uuid))
				want, ok := id.Subscription.Parse(values["id"])
				require.True(t, ok)
				require.Equal(t, want, id.ID(uuid))
			}
		}
	}
	require.Greater(t, ran, 8)
}

func TestDocs_TheGuideNamesEveryEvent(t *testing.T) {
	t.Parallel()
	guide := docPages(t)[webhooksPage]
	for _, event := range webhook.EventNames {
		require.Contains(t, guide, "`"+string(event)+"`")
	}
}

// TestDocs_TheWalkOfADelivery_NamesTheDataInTheOrderOfThePorts compares the six names for the data of a delivery with
// ports/webhooks/dispatch.go.
func TestDocs_TheWalkOfADelivery_NamesTheDataInTheOrderOfThePorts(t *testing.T) {
	t.Parallel()
	_, section, found := strings.Cut(docPages(t)["docs/walks.md"], "\n## A delivery\n")
	require.True(t, found)
	names := regexp.MustCompile(`\*\*([A-Z][a-z]+)\*\*\s\(`).FindAllStringSubmatch(section, -1)
	require.Len(t, names, 6)
	source, err := os.ReadFile(filepath.Join(repository(), "ports/webhooks/dispatch.go"))
	require.NoError(t, err)
	last := -1
	for _, name := range names {
		at := strings.Index(string(source), "\n//\t"+name[1]+" ")
		require.Greater(t, at, last, name[1])
		last = at
	}
}
