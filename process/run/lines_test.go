package run_test

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
	"sync"
	"testing"
	"testing/synctest"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/process/run"
)

// hangs is the reader of a log that takes nothing until it is released, or refuses everything.
type hangs struct {
	release chan struct{}
	refuses error

	mu   sync.Mutex
	read bytes.Buffer
}

func (h *hangs) Write(p []byte) (int, error) {
	<-h.release
	if h.refuses != nil {
		return 0, h.refuses
	}
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.read.Write(p)
}

func (h *hangs) String() string {
	h.mu.Lock()
	defer h.mu.Unlock()
	return h.read.String()
}

// line has 1,000 bytes.
func line(n int) []byte { return fmt.Appendf(nil, "%-999d\n", n) }

func TestLines_WithoutAReader_NeverWait_AndKeepTheFirstMegabyte(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		reader := &hangs{release: make(chan struct{})}
		lines := run.NewLogWriter(reader)
		write := func(n int) {
			got, err := lines.Write(line(n))
			require.NoError(t, err)
			require.Equal(t, 1000, got)
		}
		write(0)
		synctest.Wait() // the writer hangs with the first line
		require.NoError(t, lines.Check(), "a write may take a moment")
		const kept = 1 << 20 / 1000
		for n := range kept {
			write(n + 1)
		}
		require.Zero(t, lines.DroppedLines())
		<-time.After(2 * time.Second)
		require.EqualError(t, lines.Check(), "a write to the log has taken 2s; 0 lines were dropped since the start")
		for n := range 5 {
			write(kept + 1 + n)
		}
		require.EqualValues(t, 5, lines.DroppedLines())
		require.Error(t, lines.Flush(time.Second))

		close(reader.release)
		require.NoError(t, lines.Flush(time.Second))
		read := strings.SplitAfter(reader.String(), "\n")
		require.Len(t, read, 1+kept+1)
		for n := range 1 + kept {
			require.Equal(t, string(line(n)), read[n])
		}
		require.EqualError(t, lines.Check(), "5 lines of the log were dropped since the start")
		<-time.After(11 * time.Second)
		require.NoError(t, lines.Check())
		write(7)
		require.NoError(t, lines.Flush(time.Second))
		require.Contains(t, reader.String(), string(line(7)))
	})
}

func TestLines_ThatAreRefused_AreCounted(t *testing.T) {
	synctest.Test(t, func(t *testing.T) {
		full := &hangs{release: make(chan struct{}), refuses: io.ErrShortWrite}
		close(full.release)
		lines := run.NewLogWriter(full)
		for n := range 3 {
			_, err := lines.Write(line(n))
			require.NoError(t, err)
		}
		require.NoError(t, lines.Flush(time.Second))
		require.EqualValues(t, 3, lines.DroppedLines())
		require.Error(t, lines.Check())
	})
}

// A reader that takes lines again gets those that waited, at the end of the process too.
func TestLines_OnAPipe_EndWithWhatThePipeTakes(t *testing.T) {
	t.Parallel()
	reader, writer, err := os.Pipe()
	require.NoError(t, err)
	defer reader.Close()
	lines := run.NewLogWriter(writer)
	const all = 500 // the pipe has room for 65
	for n := range all {
		_, err := lines.Write(line(n))
		require.NoError(t, err)
	}
	require.Error(t, lines.Flush(10*time.Millisecond))
	flushed := make(chan error, 1)
	go func() { flushed <- lines.Flush(time.Minute); _ = writer.Close() }()
	read, err := io.ReadAll(reader)
	require.NoError(t, err)
	require.NoError(t, <-flushed)
	require.Len(t, read, all*1000)
	require.Zero(t, lines.DroppedLines())
}

func BenchmarkLines(b *testing.B) {
	out, err := os.OpenFile(os.DevNull, os.O_WRONLY, 0)
	require.NoError(b, err)
	defer out.Close()
	reader, writer, err := os.Pipe()
	require.NoError(b, err)
	defer writer.Close()
	go func() { _, _ = io.Copy(io.Discard, reader) }()
	text := line(1)[600:]
	for name, to := range map[string]io.Writer{"direct": writer, "lines": run.NewLogWriter(writer)} {
		b.Run(name, func(b *testing.B) {
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					_, _ = to.Write(text)
				}
			})
		})
	}
}
