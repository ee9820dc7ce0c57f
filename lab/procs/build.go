package procs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
	"sync"
)

// Build describes how commands are built.
type Build struct {
	Tags []string
	Race bool // with the race detector, which needs a C compiler
}

// Into builds commands of this module, such as "dispatcher", to the path out. With a trailing separator, out is a
// directory.
func (b Build) Into(ctx context.Context, out string, commands ...string) error {
	args := []string{"build", "-o", out}
	env := os.Environ()
	if len(b.Tags) > 0 {
		args = append(args, "-tags", strings.Join(b.Tags, ","))
	}
	if b.Race {
		args, env = append(args, "-race"), append(env, "CGO_ENABLED=1")
	}
	for _, c := range commands {
		args = append(args, "partnerdeposits/cmd/"+c)
	}
	cmd := exec.CommandContext(ctx, "go", args...) //nolint:gosec // the commands are constants of this repository
	cmd.Env = env
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, said)
	}
	return nil
}

// tail keeps the last part of a log.
type tail struct {
	mu   sync.Mutex
	text []byte
}

const tailSize = 64 << 10

func (t *tail) Write(b []byte) (int, error) {
	t.mu.Lock()
	defer t.mu.Unlock()
	t.text = append(t.text, b...)
	if over := len(t.text) - tailSize; over > tailSize {
		t.text = append([]byte(nil), t.text[over:]...)
	}
	return len(b), nil
}

func (t *tail) String() string {
	t.mu.Lock()
	defer t.mu.Unlock()
	return string(t.text)
}
