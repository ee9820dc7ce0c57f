package e2e_test

import (
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"
)

// Sizes of a drawing, in pixels.
const (
	drawnAbreast = 3 // panels in a row
	cellWidth    = 400
	cellHeight   = 210
	plotLeft     = 62
	plotTop      = 34
	plotWidth    = 322
	plotHeight   = 96
	titleSpace   = 64
	maxLegends   = 5 // in a legend
)

var lineColours = []string{"#3274d9", "#e0752d", "#56a64b", "#8f3bb8", "#e02f44", "#14a2a2", "#b08d00", "#6d6d6d"}

// draw draws the panels of a dashboard as an SVG picture. lines[i] belong to the i-th panel.
func (d dashboard) draw(lines [][]drawnLine, s shownSpan) string {
	rows := (len(d.Panels) + drawnAbreast - 1) / drawnAbreast
	var b strings.Builder
	fmt.Fprintf(&b,
		`<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11" fill="#222">`,
		drawnAbreast*cellWidth, titleSpace+rows*cellHeight)
	b.WriteString(`<rect width="100%" height="100%" fill="#fff"/>`)
	fmt.Fprintf(&b, `<text x="16" y="28" font-size="20">%s</text><text x="16" y="48">%s</text>`+"\n",
		html.EscapeString(d.Title), html.EscapeString(d.Description))
	for i, p := range d.Panels {
		fmt.Fprintf(&b, `<g transform="translate(%d,%d)">`, i%drawnAbreast*cellWidth, titleSpace+i/drawnAbreast*cellHeight)
		drawPanel(&b, p, lines[i], s)
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func drawPanel(b *strings.Builder, p panel, lines []drawnLine, s shownSpan) {
	fmt.Fprintf(b, `<text x="16" y="20" font-weight="bold">%s</text>`, html.EscapeString(p.Title))
	low, high := axisOf(lines)
	unit := p.FieldConfig.Defaults.Unit
	fmt.Fprintf(b, `<path d="M%d %dv%dh%d" fill="none" stroke="#bbb"/>`, plotLeft, plotTop, plotHeight, plotWidth)
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="end">%s</text><text x="%d" y="%d" text-anchor="end">%s</text>`,
		plotLeft-4, plotTop+9, inUnit(unit, high), plotLeft-4, plotTop+plotHeight, inUnit(unit, low))
	for _, at := range p.FieldConfig.Defaults.Thresholds.Steps {
		if at.Value != nil && *at.Value > low && *at.Value <= high {
			y := plotTop + plotHeight*(high-*at.Value)/(high-low)
			fmt.Fprintf(b, `<path d="M%d %.0fh%d" stroke="%s" stroke-dasharray="4 3"/>`, plotLeft, y, plotWidth, at.Color)
		}
	}
	for i, line := range lines {
		colour := lineColours[i%len(lineColours)]
		fmt.Fprintf(b, `<polyline fill="none" stroke="%s" stroke-width="1.5" points="%s"/>`, colour,
			line.points(low, high, s))
		if i < maxLegends {
			fmt.Fprintf(b, `<text x="%d" y="%d" fill="%s">%s: %s</text>`, plotLeft, plotTop+plotHeight+14+12*i, colour,
				html.EscapeString(line.name), inUnit(unit, line.values[len(line.values)-1]))
		}
	}
	if more := len(lines) - maxLegends; more > 0 {
		fmt.Fprintf(b, `<text x="%d" y="20" text-anchor="end" fill="#777">and %d more</text>`, plotLeft+plotWidth, more)
	}
}

// axisOf is the axis of values: 0 belongs to the axis.
func axisOf(lines []drawnLine) (low, high float64) {
	for _, l := range lines {
		low, high = min(low, slices.Min(l.values)), max(high, slices.Max(l.values))
	}
	if high == low {
		high = low + 1
	}
	return low, high
}

func (l drawnLine) points(low, high float64, s shownSpan) string {
	var b strings.Builder
	whole := s.to.Sub(s.from)
	for i, v := range l.values {
		x := plotLeft + plotWidth*float64(l.at[i].Sub(s.from))/float64(max(whole, time.Second))
		y := plotTop + plotHeight*(high-v)/(high-low)
		fmt.Fprintf(&b, "%.0f,%.0f ", x, y)
	}
	return strings.TrimSpace(b.String())
}

// inUnit formats a value in Grafana's unit.
func inUnit(unit string, v float64) string {
	short := func(v float64) string { return strconv.FormatFloat(v, 'g', 3, 64) }
	switch unit {
	case "s":
		if v != 0 && v < 1 && v > -1 {
			return short(1000*v) + " ms"
		}
		return short(v) + " s"
	case "percentunit":
		return short(100*v) + " %"
	case "bytes":
		return short(v/(1<<20)) + " MiB"
	case "currencyEUR":
		return "€ " + short(v)
	case "ops", "reqps":
		return short(v) + "/s"
	default:
		return short(v)
	}
}

func TestPanels_Drawn_ShowsTitlesLegendsAndLines(t *testing.T) {
	t.Parallel()
	from := time.Unix(1000, 0)
	s := shownSpan{from: from, to: from.Add(10 * time.Second), step: time.Second}
	d := dashboard{Title: "A <b>", Panels: []panel{{Title: "Wait"}, {Title: "Empty"}}}
	d.Panels[0].FieldConfig.Defaults.Unit = "s"
	half, above := 0.125, 7.0
	steps := []threshold{{Color: "green"}, {Color: "orange", Value: &half}, {Color: "red", Value: &above}}
	d.Panels[0].FieldConfig.Defaults.Thresholds.Steps = steps
	line := drawnLine{name: "half", at: []time.Time{from, from.Add(10 * time.Second)}, values: []float64{0, 0.25}}
	picture := d.draw([][]drawnLine{{line}, nil}, s)
	require.Contains(t, picture, "A &lt;b&gt;")
	require.Contains(t, picture, "half: 250 ms")
	require.Contains(t, picture, `points="62,130 384,34"`, "from below on the left to above on the right")
	require.Equal(t, 1, strings.Count(picture, "<polyline"))
	require.Contains(t, picture, `<path d="M62 82h322" stroke="orange"`, "a bound in the middle")
	require.NotContains(t, picture, "red", "a bound that is out of sight")
	require.Contains(t, picture, "Empty")
}
