package admin

import (
	"fmt"
	"time"
)

// plainEvery is the pause between two lines of progress if stderr is no terminal.
const plainEvery = 5 * time.Second

// progress prints to stderr how far a long command is: as a line that changes in place on a terminal, as plain
// lines elsewhere, or as JSON.
type progress struct {
	c    *call
	what string // The unit in which progress is counted, such as "rows read".
	// Whether the line of progress changes in place on a terminal.
	live    bool
	began   time.Time
	first   int64 // The first count of progress, from which the rate is computed.
	printed time.Time
	open    bool // Whether the terminal's line of progress has no line end yet.
	last    string
}

// progress returns a reporter for a long command. what is the unit of its counts.
func (c *call) progress(what string) *progress {
	return &progress{c: c, what: what, live: isTerminal(c.stderr) && !c.json, first: -1}
}

// report prints that done of total units are done; a total of 0 means unknown. note is a remark.
func (p *progress) report(now time.Time, done, total int64, note string) {
	if p.first < 0 {
		p.first, p.began = done, now
	}
	const liveEvery = 100 * time.Millisecond
	pause := plainEvery
	if p.live {
		pause = liveEvery
	}
	if !p.printed.IsZero() && now.Sub(p.printed) < pause && note == p.last && (done < total || total == 0) {
		return
	}
	p.printed, p.last = now, note
	if p.c.json {
		p.json(now, done, total, note)
		return
	}
	text := p.text(now, done, total, note)
	if p.live {
		fmt.Fprintf(p.c.stderr, "\r\x1b[K%s", text)
		p.open = true
		return
	}
	fmt.Fprintln(p.c.stderr, text)
}

func (p *progress) text(now time.Time, done, total int64, note string) string {
	text := fmt.Sprintf("%d %s", done, p.what)
	if total > 0 {
		text = fmt.Sprintf("%d of %d %s (%d %%)", done, total, p.what, done*100/total)
	}
	if rate, left, known := p.pace(now, done, total); known {
		text += fmt.Sprintf(", %.1f/s", rate)
		if total > 0 {
			text += ", " + left.String() + " left"
		}
	}
	if note != "" {
		text += ": " + note
	}
	return text
}

func (p *progress) json(now time.Time, done, total int64, note string) {
	out := fields{{"done", done}, {"total", nil}, {"unit", p.what}, {"perSecond", nil}, {"secondsLeft", nil},
		{"note", textOrNone(note)}}
	if total > 0 {
		out[1].value = total
	}
	if rate, left, known := p.pace(now, done, total); known {
		out[3].value = rate
		if total > 0 {
			out[4].value = int64(left / time.Second)
		}
	}
	_ = printJSON(p.c.stderr, fields{{"progress", out}})
}

// pace returns a long command's rate since its first report, and the time left. known is false if it is too early.
func (p *progress) pace(now time.Time, done, total int64) (perSecond float64, left time.Duration, known bool) {
	elapsed := now.Sub(p.began).Seconds()
	if elapsed < 1 || done <= p.first {
		return 0, 0, false
	}
	perSecond = float64(done-p.first) / elapsed
	return perSecond, time.Duration(float64(max(0, total-done)) / perSecond * float64(time.Second)).Round(time.Second),
		true
}

// end finishes the terminal's line of progress.
func (p *progress) end() {
	if p.open {
		fmt.Fprintln(p.c.stderr)
		p.open = false
	}
}
