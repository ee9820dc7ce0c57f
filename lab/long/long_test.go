package main

import (
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/docstest"
)

func TestParts_RunEveryLongTest_AndNoOther(t *testing.T) {
	t.Parallel()
	there := map[string]bool{}
	require.NoError(t, filepath.WalkDir(docstest.Root(), func(path string, _ os.DirEntry, err error) error {
		if err != nil || !strings.HasSuffix(path, "_test.go") {
			return err
		}
		text, err := os.ReadFile(path)
		folder, _ := filepath.Rel(docstest.Root(), filepath.Dir(path))
		for _, m := range regexp.MustCompile(`(?m)^func TestLong_(\w+)\(`).FindAllSubmatch(text, -1) {
			there[folder+" "+string(m[1])] = true
		}
		return err
	}))
	run := map[string]bool{}
	for _, p := range parts {
		if p.test != "" {
			run[p.folder+" "+p.test] = true
		}
	}
	require.Equal(t, there, run)
}

func TestChoose_NamesThePartsOfAnUnknownName(t *testing.T) {
	t.Parallel()
	_, err := choose([]string{"roling"})
	require.ErrorContains(t, err, "rolling, ")
	chosen, err := choose([]string{"faults", "rolling"})
	require.NoError(t, err)
	require.Len(t, chosen, 2)
	require.Equal(t, "rolling", chosen[0].name, "in the order of the schedule")
}

func TestFigures_AreTheAgreedLinesOfALog(t *testing.T) {
	t.Parallel()
	log := filepath.Join(t.TempDir(), "log")
	text := "=== RUN\n    a_test.go:7: figure: 0 of 9 lost\nfigure: seed 7\nfigures:\n"
	require.NoError(t, os.WriteFile(log, []byte(text), 0o600))
	require.Equal(t, []string{"0 of 9 lost", "seed 7"}, figures(log))
}

func TestUse_OfOthersOrTheHost_IsNotQuiet(t *testing.T) {
	t.Parallel()
	require.True(t, use{all: 100, busy: 90, own: 85}.quietEnough())
	require.False(t, use{all: 100, busy: 90, own: 60}.quietEnough(), "others")
	require.False(t, use{all: 100, busy: 10, own: 10, stolen: 5}.quietEnough(), "stolen")
}
