package run

import (
	"bytes"
	"errors"
	"fmt"
	"io"
	"sync"
	"sync/atomic"
	"time"
)

const (
	// mostWaiting bounds the bytes of log lines that wait for the reader of the log.
	mostWaiting = 1 << 20
	// slowWrite is how long a write may take until the reader counts as away.
	slowWrite = time.Second
	// lossTold is how long after the last lost line Check tells of the loss.
	lossTold = 10 * time.Second
)

// Lines writes the log of a process. Write never waits for the reader of the log, such as a log shipper behind a pipe:
// lines beyond the bound are dropped and counted.
type Lines struct {
	out     io.Writer
	dropped atomic.Uint64

	mu      sync.Mutex
	waiting []byte        // whole lines
	taken   []byte        // of the write under way; its memory serves again
	writing bool          // a goroutine writes
	began   time.Time     // of its write that has not returned; zero: none
	emptied chan struct{} // closed when no line waits any more; nil: nobody asked
	lostAt  time.Time     // of the last line that was dropped
}

// NewLines returns a writer to out, which may block.
func NewLines(out io.Writer) *Lines { return &Lines{out: out} }

// Write keeps a line, which ends with a line feed, until the reader takes it. It always succeeds.
func (l *Lines) Write(line []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting)+len(line) > mostWaiting {
		l.lost(1)
		return len(line), nil
	}
	l.waiting = append(l.waiting, line...)
	if !l.writing {
		l.writing = true
		go l.write()
	}
	return len(line), nil
}

// Dropped is how many lines were dropped since the start.
func (l *Lines) Dropped() uint64 { return l.dropped.Load() }

// Check returns an error while the reader takes no lines, and for a while after a line was dropped.
func (l *Lines) Check() error {
	l.mu.Lock()
	defer l.mu.Unlock()
	now := time.Now()
	if lasts := now.Sub(l.began); !l.began.IsZero() && lasts > slowWrite {
		return fmt.Errorf("a write to the log has taken %s; %d lines were dropped since the start",
			lasts.Round(time.Second), l.dropped.Load())
	}
	if !l.lostAt.IsZero() && now.Sub(l.lostAt) < lossTold {
		return fmt.Errorf("%d lines of the log were dropped since the start", l.dropped.Load())
	}
	return nil
}

// errUnread is returned when the reader did not take all lines in time.
var errUnread = errors.New("run: the last lines of the log were not read in time")

// Flush waits until the reader of the log has taken every line.
//
// Returns errUnread after patience.
func (l *Lines) Flush(patience time.Duration) error {
	l.mu.Lock()
	if !l.writing {
		l.mu.Unlock()
		return nil
	}
	if l.emptied == nil {
		l.emptied = make(chan struct{})
	}
	emptied := l.emptied
	l.mu.Unlock()
	timer := time.NewTimer(patience)
	defer timer.Stop()
	select {
	case <-emptied:
		return nil
	case <-timer.C:
		return errUnread
	}
}

// write is the only goroutine that waits for the reader, and ends once no line waits. Lines that come during a write
// share the next.
func (l *Lines) write() {
	for l.take() {
		written, err := l.out.Write(l.taken)
		l.mu.Lock()
		l.began = time.Time{}
		if err != nil {
			l.lost(bytes.Count(l.taken[written:], []byte{'\n'}))
		}
		l.mu.Unlock()
	}
}

// take makes the lines that wait those that are written. Returns false when none waits.
func (l *Lines) take() bool {
	l.mu.Lock()
	defer l.mu.Unlock()
	if len(l.waiting) == 0 {
		l.writing = false
		if l.emptied != nil {
			close(l.emptied)
			l.emptied = nil
		}
		return false
	}
	l.taken, l.waiting = l.waiting, l.taken[:0]
	l.began = time.Now()
	return true
}

// lost counts dropped lines; l.mu is held.
func (l *Lines) lost(lines int) {
	l.dropped.Add(uint64(lines)) //nolint:gosec // a count
	l.lostAt = time.Now()
}
