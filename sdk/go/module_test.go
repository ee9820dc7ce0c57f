package deposits_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"strings"
	"testing"
)

// TestModule_IsUsedFromACheckoutWithoutANetwork builds the samples of the README in a module of their own.
func TestModule_IsUsedFromACheckoutWithoutANetwork(t *testing.T) {
	checkout, err := os.Getwd()
	noError(t, err)
	readme, err := os.ReadFile("README.md")
	noError(t, err)
	prelude, err := os.ReadFile("testdata/readme.prelude.go.txt")
	noError(t, err)
	program := string(prelude)
	samples := regexp.MustCompile("(?s)```go\n(.*?)```").FindAllStringSubmatch(string(readme), -1)
	for _, sample := range samples {
		if lines := strings.Count(sample[1], "\n"); lines > 10 {
			t.Errorf("a sample has %d lines:\n%s", lines, sample[1])
		}
		program += sample[1]
	}
	program += "return nil\n}\n"
	dir := t.TempDir()
	noError(t, os.WriteFile(filepath.Join(dir, "main.go"), []byte(program), 0o600))
	for _, args := range [][]string{
		{"mod", "init", "example.com/bookings"},
		{"mod", "edit", "-require=partnerdeposits/sdk/go@v1.0.0", "-replace=partnerdeposits/sdk/go=" + checkout},
		{"vet", "."},
	} {
		cmd := exec.Command("go", args...)
		cmd.Dir = dir
		cmd.Env = append(os.Environ(), "GOPROXY=off", "GOFLAGS=-mod=mod", "GOWORK=off")
		if out, err := cmd.CombinedOutput(); err != nil {
			t.Fatalf("go %v: %v\n%s\n%s", args, err, out, program)
		}
	}
}
