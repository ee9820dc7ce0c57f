package panels

import (
	"fmt"
	"html"
	"slices"
	"strconv"
	"strings"
	"time"
)

// Sizes of a drawing, in pixels.
const (
	columns    = 3
	cellWidth  = 400
	cellHeight = 210
	plotLeft   = 62
	plotTop    = 34
	plotWidth  = 322
	plotHeight = 96
	titleSpace = 64
	mostNames  = 5 // in a legend
)

var colours = []string{"#3274d9", "#e0752d", "#56a64b", "#8f3bb8", "#e02f44", "#14a2a2", "#b08d00", "#6d6d6d"}

// Draw draws the panels of a dashboard as an SVG picture. lines[i] belong to the i-th panel.
func (d Dashboard) Draw(lines [][]Line, s Span) string {
	rows := (len(d.Panels) + columns - 1) / columns
	var b strings.Builder
	fmt.Fprintf(&b, `<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 %d %d" font-family="sans-serif" font-size="11" fill="#222">`, columns*cellWidth, titleSpace+rows*cellHeight)
	b.WriteString(`<rect width="100%" height="100%" fill="#fff"/>`)
	fmt.Fprintf(&b, `<text x="16" y="28" font-size="20">%s</text><text x="16" y="48">%s</text>`+"\n", html.EscapeString(d.Title), html.EscapeString(d.Description))
	for i, p := range d.Panels {
		fmt.Fprintf(&b, `<g transform="translate(%d,%d)">`, i%columns*cellWidth, titleSpace+i/columns*cellHeight)
		drawPanel(&b, p, lines[i], s)
		b.WriteString("</g>\n")
	}
	b.WriteString("</svg>\n")
	return b.String()
}

func drawPanel(b *strings.Builder, p Panel, lines []Line, s Span) {
	fmt.Fprintf(b, `<text x="16" y="20" font-weight="bold">%s</text>`, html.EscapeString(p.Title))
	low, high := bounds(lines)
	unit := p.FieldConfig.Defaults.Unit
	fmt.Fprintf(b, `<path d="M%d %dv%dh%d" fill="none" stroke="#bbb"/>`, plotLeft, plotTop, plotHeight, plotWidth)
	fmt.Fprintf(b, `<text x="%d" y="%d" text-anchor="end">%s</text><text x="%d" y="%d" text-anchor="end">%s</text>`,
		plotLeft-4, plotTop+9, in(unit, high), plotLeft-4, plotTop+plotHeight, in(unit, low))
	for i, line := range lines {
		colour := colours[i%len(colours)]
		fmt.Fprintf(b, `<polyline fill="none" stroke="%s" stroke-width="1.5" points="%s"/>`, colour, points(line, low, high, s))
		if i < mostNames {
			fmt.Fprintf(b, `<text x="%d" y="%d" fill="%s">%s: %s</text>`, plotLeft, plotTop+plotHeight+14+12*i, colour,
				html.EscapeString(line.Name), in(unit, line.Values[len(line.Values)-1]))
		}
	}
	if more := len(lines) - mostNames; more > 0 {
		fmt.Fprintf(b, `<text x="%d" y="20" text-anchor="end" fill="#777">and %d more</text>`, plotLeft+plotWidth, more)
	}
}

// bounds are the axis of values: 0 belongs to the axis.
func bounds(lines []Line) (low, high float64) {
	for _, l := range lines {
		low, high = min(low, slices.Min(l.Values)), max(high, slices.Max(l.Values))
	}
	if high == low {
		high = low + 1
	}
	return low, high
}

func points(l Line, low, high float64, s Span) string {
	var b strings.Builder
	whole := s.To.Sub(s.From)
	for i, v := range l.Values {
		x := plotLeft + plotWidth*float64(l.At[i].Sub(s.From))/float64(max(whole, time.Second))
		y := plotTop + plotHeight*(high-v)/(high-low)
		fmt.Fprintf(&b, "%.0f,%.0f ", x, y)
	}
	return strings.TrimSpace(b.String())
}

// in formats a value in Grafana's unit.
func in(unit string, v float64) string {
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
	case "ops", "reqps":
		return short(v) + "/s"
	default:
		return short(v)
	}
}
