package backing

import "sync"

// tailBuffer keeps the last 4 to 8 KiB of the bytes written.
type tailBuffer struct {
	mu   sync.Mutex
	text []byte
}

const tailKeeps = 4 << 10

func (b *tailBuffer) Write(p []byte) (int, error) {
	b.mu.Lock()
	defer b.mu.Unlock()
	b.text = append(b.text, p...)
	if len(b.text) > 2*tailKeeps {
		b.text = append([]byte(nil), b.text[len(b.text)-tailKeeps:]...)
	}
	return len(p), nil
}

func (b *tailBuffer) String() string {
	b.mu.Lock()
	defer b.mu.Unlock()
	return string(b.text)
}
