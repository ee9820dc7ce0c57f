package main

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"
)

// told reads events and gives the text that a reader sees in the end.
func told(t *testing.T, events string) (text string, passed bool) {
	t.Helper()
	out := &strings.Builder{}
	r := newReport(out)
	require.NoError(t, r.read(strings.NewReader(events)))
	r.progress()
	passed = r.close()
	return out.String(), passed
}

func TestReport_CountsPackagesTestsAndTheCache(t *testing.T) {
	t.Parallel()
	text, passed := told(t, `{"Action":"packages","Packages":3}
{"Action":"start","Package":"partnerdeposits/core/id"}
{"Action":"pass","Package":"partnerdeposits/core/id","Test":"TestNew","Elapsed":0.25}
{"Action":"output","Package":"partnerdeposits/core/id","Output":"ok  \tpartnerdeposits/core/id\t(cached)\n"}
{"Action":"pass","Package":"partnerdeposits/core/id","Elapsed":0.5}
{"Action":"start","Package":"partnerdeposits/lab/e2e"}
{"Action":"pass","Package":"partnerdeposits/lab/sdk","Test":"TestOther"}
{"Action":"pass","Package":"partnerdeposits/lab/sdk"}
{"Action":"pass","Package":"partnerdeposits/lab/e2e"}
`)
	require.True(t, passed)
	require.Contains(t, text, "3 of 3 packages (1 of them from the cache), 2 tests\n")
	require.Contains(t, text, "     0.5 core/id\n")
	require.Contains(t, text, "     0.2 core/id TestNew\n")
	require.True(t, strings.HasSuffix(text, "\n2 passed, 0 failed, 0 skipped\n"), text)
}

func TestReport_ShowsWhatFailed_AndOnlyThat(t *testing.T) {
	t.Parallel()
	text, passed := told(t, `{"Action":"output","Package":"partnerdeposits/a","Test":"TestGood","Output":"good\n"}
{"Action":"pass","Package":"partnerdeposits/a","Test":"TestGood"}
{"Action":"output","Package":"partnerdeposits/a","Test":"TestBad","Output":"bad\n"}
{"Action":"fail","Package":"partnerdeposits/a","Test":"TestBad"}
{"Action":"fail","Package":"partnerdeposits/a"}
`)
	require.False(t, passed)
	require.Contains(t, text, "1 passed, 1 failed, 0 skipped\n")
	require.Contains(t, text, "--- FAIL a TestBad (0.00 s)\nbad\n")
	require.NotContains(t, text, "good\n")
}

func TestReport_NothingElsePasses(t *testing.T) {
	t.Parallel()
	const good = `{"Action":"pass","Package":"partnerdeposits/a","Test":"TestGood"}` + "\n"
	for name, events := range map[string]string{
		"no test":              "",
		"a build that fails":   good + `{"Action":"fail","Package":"partnerdeposits/a","FailedBuild":"partnerdeposits/a"}`,
		"a skipped test":       good + `{"Action":"skip","Package":"partnerdeposits/a","Test":"TestSkipped"}`,
		"a package that hangs": good + `{"Action":"start","Package":"partnerdeposits/b"}`,
	} {
		_, passed := told(t, events)
		require.False(t, passed, name)
	}
}

func TestReport_PrintsARaceThatAPassedTestSaw(t *testing.T) {
	t.Parallel()
	text, passed := told(t, `{"Action":"output","Package":"partnerdeposits/a","Test":"TestGood","Output":"WARNING: DATA"}
{"Action":"output","Package":"partnerdeposits/a","Test":"TestGood","Output":" RACE\nWrite at main.go:7\n"}
{"Action":"pass","Package":"partnerdeposits/a","Test":"TestGood"}
{"Action":"fail","Package":"partnerdeposits/a","Test":"TestBad"}
`)
	require.False(t, passed)
	require.Contains(t, text, "Write at main.go:7\n")
}
