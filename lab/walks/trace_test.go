package main

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestRanIn_TakesBlocksOfTheHouseThatRan(t *testing.T) {
	t.Parallel()
	profile := `mode: atomic
partnerdeposits/app/a.go:1.2,3.4 2 7
partnerdeposits/app/b.go:1.2,3.4 2 0
partnerdeposits/lab/walks/c.go:1.2,3.4 2 7
`
	require.Equal(t, map[block]bool{{"app/a.go", "1.2,3.4"}: true}, ranIn(profile))
}

func TestFilesOf_KeepsBlocksThatMostRoundsRan_AndNoneThatRanWithoutARequest(t *testing.T) {
	t.Parallel()
	ran := func(files ...string) map[block]bool {
		all := map[block]bool{}
		for _, file := range files {
			all[block{file, "1"}] = true
		}
		return all
	}
	require.Equal(t, []string{"app/page.templ", "app/walk.go"}, filesOf([]map[block]bool{
		ran("app/idle.go", "app/walk.go", "app/page_templ.go"),
		ran("app/idle.go", "app/walk.go", "app/page_templ.go", "app/job.go"),
		ran("app/idle.go", "app/page_templ.go", "app/walk.go"),
	}, ran("app/idle.go", "app/other.go")))
}

func TestTrace_IsReadAsItIsWritten(t *testing.T) {
	t.Parallel()
	kept := trace{}
	for _, w := range walks {
		kept[w.name] = []string{"app/" + w.name + ".go", "core/a.go"}
	}
	require.Equal(t, kept, parseTrace(kept.String()))
}
