package procs

import "sync"

// Buffer keeps output that several goroutines write and read. The zero value keeps all.
type Buffer struct {
	Max int // keeps at least as many of the last bytes, and at most twice as many; 0: all

	mu   sync.Mutex
	text []byte
}

// tailSize is the part of a log that a Process keeps.
const tailSize = 64 << 10

// Write implements io.Writer.
func (b *Buffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = append(b.text, p...)
	if over := len(b.text) - b.Max; b.Max > 0 && over > b.Max {
		b.text = append([]byte(nil), b.text[over:]...)
	}
	return len(p), nil
}

// String is the text so far.
func (b *Buffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.text)
}
