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
	// mostWaiting is the number of bytes of log lines that may wait for the log's reader; further lines are dropped.
	mostWaiting = 1 << 20
	// slowWrite is how long a write to the log may take before its reader counts as stuck.
	slowWrite = time.Second
	// lossTold is how long after the last dropped log line the health check reports the loss.
	lossTold = 10 * time.Second
)

// LogWriter writes the log of a process. It never waits for the log's reader, such as a log shipper: lines beyond a
// limit are dropped and counted.
type LogWriter struct {
	out     io.Writer
	dropped atomic.Uint64

	mu      sync.Mutex
	waiting []byte
	taken   []byte // The log lines being written, whose memory is reused.
	writing bool
	began   time.Time     // When the present write of log lines began; zero: none is in progress.
	emptied chan struct{} // A channel that is closed once no log line waits; nil: Flush is not waiting.
	lostAt  time.Time
}

func NewLogWriter(out io.Writer) *LogWriter { return &LogWriter{out: out} }

// Write stores a log line until the log's reader takes it. Write always succeeds.
func (l *LogWriter) Write(line []byte) (int, error) {
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

func (l *LogWriter) DroppedLines() uint64 { return l.dropped.Load() }

// Check returns an error while the log's reader takes no lines, and for some seconds after a line was dropped.
func (l *LogWriter) Check() error {
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

var errUnread = errors.New("run: the last lines of the log were not read in time")

// Flush waits until the log's reader has taken every line. Returns errUnread after patience.
func (l *LogWriter) Flush(patience time.Duration) error {
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

// write writes the waiting log lines until none waits. Lines that arrive during a write are written together in the
// next.
func (l *LogWriter) write() {
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

// take moves the waiting log lines to those being written; false if none waits.
func (l *LogWriter) take() bool {
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

// lost counts dropped log lines. The caller holds the lock.
func (l *LogWriter) lost(lines int) {
	l.dropped.Add(uint64(lines)) //nolint:gosec // a count
	l.lostAt = time.Now()
}
