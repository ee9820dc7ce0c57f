package procs

import "sync"

// OutputBuffer stores output in memory; several goroutines may write and read it. The zero value stores all output.
type OutputBuffer struct {
	// The number of bytes at the end of the output that are always kept (up to twice as many may be); 0: all output
	// is kept.
	Max int

	mu   sync.Mutex
	text []byte
}

// tailSize is the number of bytes at the end of a child process's output that are kept.
const tailSize = 64 << 10

// Write appends to the buffer, and drops the oldest bytes if there are more than twice Max.
func (b *OutputBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = append(b.text, p...)
	if over := len(b.text) - b.Max; b.Max > 0 && over > b.Max {
		b.text = append([]byte(nil), b.text[over:]...)
	}
	return len(p), nil
}

// String returns the output in the buffer.
func (b *OutputBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.text)
}
