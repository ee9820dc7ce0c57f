package procs

import "sync"

// OutputBuffer stores output of several goroutines. The zero value stores all of it.
type OutputBuffer struct {
	// The bytes at the end of the output that are always kept, up to twice as many; 0: all output.
	Max int

	mu   sync.Mutex
	text []byte
}

// tailSize is how many bytes at the end of a child process's output are kept.
const tailSize = 64 << 10

// Write drops the oldest output if there is more than twice Max.
func (b *OutputBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = append(b.text, p...)
	if over := len(b.text) - b.Max; b.Max > 0 && over > b.Max {
		b.text = append([]byte(nil), b.text[over:]...)
	}
	return len(p), nil
}

func (b *OutputBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.text)
}
