package procs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

type BuildOptions struct {
	Tags []string
	// Whether the race detector is compiled in, which needs a C compiler.
	Race  bool
	Stamp string // Linker flags that stamp a version.

	// JSON file that replaces source files, as for go build -overlay.
	Overlay string
}

// CompileTo compiles commands, such as "cmd/dispatcher", to the path out, a directory if it ends with a separator.
func (b BuildOptions) CompileTo(ctx context.Context, out string, commands ...string) error {
	PreventTestCaching()
	// Debug information would cost a quarter of the linker's time.
	args := []string{"build", "-ldflags=-s -w " + b.Stamp, "-o", out}
	env := append(os.Environ(), "CGO_ENABLED=0")
	if len(b.Tags) > 0 {
		args = append(args, "-tags", strings.Join(b.Tags, ","))
	}
	if b.Race {
		// CGO_ENABLED=1 stands last, where it replaces an earlier value.
		args, env = append(args, "-race"), append(env, "CGO_ENABLED=1")
	}
	if b.Overlay != "" {
		args = append(args, "-overlay", b.Overlay)
	}
	for _, c := range commands {
		args = append(args, "partnerdeposits/"+c)
	}
	cmd := exec.CommandContext(ctx, "go", args...) //nolint:gosec // the commands are constants of this repository
	cmd.Env = env
	if said, err := cmd.CombinedOutput(); err != nil {
		return fmt.Errorf("build: %w\n%s", err, said)
	}
	return nil
}
