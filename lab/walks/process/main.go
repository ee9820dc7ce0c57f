// Command process is cmd/http or cmd/dispatcher, as its argument says, whose counters of coverage can be read while it
// runs: each line of standard input names a directory, which gets what was counted since the line before.
package main

import (
	"bufio"
	"context"
	"errors"
	"fmt"
	"io"
	"log/slog"
	"os"
	"runtime/coverage"

	"partnerdeposits/process/config"
	"partnerdeposits/process/run"
	"partnerdeposits/process/wire"
)

var commands = map[string]func(context.Context, config.Config, *slog.Logger) (run.Process, error){
	"http": wire.HTTP, "dispatcher": wire.Dispatcher,
}

func main() {
	const gcPercent = 200
	command, known := commands[os.Args[len(os.Args)-1]]
	if !known {
		os.Exit(run.ExitUsage)
	}
	go obey(os.Stdin)
	os.Exit(run.Main(gcPercent, command))
}

func obey(orders io.Reader) {
	for lines := bufio.NewScanner(orders); lines.Scan(); {
		if err := write(lines.Text()); err != nil {
			fmt.Fprintln(os.Stderr, "counters:", err)
			os.Exit(run.ExitFailure)
		}
	}
}

// write fills a directory under another name first, so that whoever sees the directory finds it complete.
func write(dir string) error {
	part := dir + ".part"
	err := os.Mkdir(part, 0o700)
	if err == nil {
		err = errors.Join(coverage.WriteMetaDir(part), coverage.WriteCountersDir(part), coverage.ClearCounters())
	}
	if err != nil {
		return err
	}
	return os.Rename(part, dir)
}
