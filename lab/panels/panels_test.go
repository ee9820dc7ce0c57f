package panels_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/panels"
)

func TestFill_ReplacesGrafanasVariables(t *testing.T) {
	var d panels.Dashboard
	d.Templating.List = []panels.Variable{{Name: "event", Type: "query"}}
	from := time.Unix(1000, 0)
	s := panels.Span{From: from, To: from.Add(time.Minute), Step: time.Second, RateInterval: 4 * time.Second}
	require.Equal(t, `rate(x{event=~".*"}[4s]) + increase(y[60s])`, d.Fill(`rate(x{event=~"$event"}[$__rate_interval]) + increase(y[$__range])`, s))
}

func TestDraw_ShowsTitlesLegendsAndLines(t *testing.T) {
	from := time.Unix(1000, 0)
	s := panels.Span{From: from, To: from.Add(10 * time.Second), Step: time.Second}
	d := panels.Dashboard{Title: "A <b>", Panels: []panels.Panel{{Title: "Wait"}, {Title: "Empty"}}}
	d.Panels[0].FieldConfig.Defaults.Unit = "s"
	line := panels.Line{Name: "half", At: []time.Time{from, from.Add(10 * time.Second)}, Values: []float64{0, 0.25}}
	picture := d.Draw([][]panels.Line{{line}, nil}, s)
	require.Contains(t, picture, "A &lt;b&gt;")
	require.Contains(t, picture, "half: 250 ms")
	require.Contains(t, picture, `points="62,130 384,34"`, "from below on the left to above on the right")
	require.Equal(t, 1, strings.Count(picture, "<polyline"))
	require.Contains(t, picture, "Empty")
}
