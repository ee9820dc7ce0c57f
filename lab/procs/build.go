package procs

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strings"
)

// Build describes how commands are built.
type Build struct {
	Tags  []string
	Race  bool   // with the race detector, which needs a C compiler
	Stamp string // flags of the linker that stamp the build

	Overlay string // a file that replaces sources, in the form of go build -overlay
}

// Into builds commands of this module, such as "cmd/dispatcher", to the path out. With a trailing separator, out is a
// directory.
func (b Build) Into(ctx context.Context, out string, commands ...string) error {
	Uncached()
	args := []string{"build", "-ldflags=-s -w " + b.Stamp, "-o", out} // debug information costs a quarter of a link
	env := append(os.Environ(), "CGO_ENABLED=0")
	if len(b.Tags) > 0 {
		args = append(args, "-tags", strings.Join(b.Tags, ","))
	}
	if b.Race {
		args, env = append(args, "-race"), append(env, "CGO_ENABLED=1") // the last of a name counts
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
