// Command walks follows requests through the code: it runs the service with counters of coverage, sends each request of
// docs/walks.md, lists the files whose code ran for it, and draws the page's tables anew. The order of the rows and
// their words are written by hand, and stay. Usage, from the root of the repository:
//
//	walks         traces all walks, keeps the trace in lab/walks/trace.txt, and draws the page
//	walks page    draws the page from the kept trace
//
// Files without words and words without a file are named, and the exit code is 1 then.
package main

import (
	"context"
	"errors"
	"fmt"
	"os"
	"os/signal"
	"path/filepath"
	"slices"
	"syscall"
	"time"

	"partnerdeposits/lab/procs"
)

// Files of this repository that the command writes.
const (
	pageFile  = "docs/walks.md"
	traceFile = "lab/walks/trace.txt"
)

var errGaps = errors.New("write the missing words, move or remove the others, and run `make walks ARGS=page`")

func main() {
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt, syscall.SIGTERM)
	defer stop()
	if err := run(ctx, os.Args[1:]); err != nil {
		fmt.Fprintln(os.Stderr, "walks:", err)
		os.Exit(1)
	}
}

func run(ctx context.Context, args []string) error {
	if !slices.Equal(args, []string{"page"}) {
		if err := traceAll(ctx); err != nil {
			return err
		}
	}
	return drawPage()
}

// traceAll takes all walks, and keeps their files.
func traceAll(ctx context.Context) error {
	const patience = 20 * time.Minute // the build on a busy machine included
	ctx, cancel := context.WithTimeout(ctx, patience)
	defer cancel()
	dir, err := os.MkdirTemp("", "walks")
	if err != nil {
		return err
	}
	defer func() { _ = os.RemoveAll(dir) }()
	binary := filepath.Join(dir, "process")
	if err := (procs.Build{Cover: true}).Into(ctx, binary, "lab/walks/process"); err != nil {
		return err
	}
	in, err := open(ctx, dir, binary)
	defer in.close()
	if err != nil {
		return err
	}
	files := trace{}
	for _, w := range walks {
		if files[w.name], err = in.follow(ctx, w); err != nil {
			return fmt.Errorf("%s: %w", w.name, err)
		}
		fmt.Printf("%s: %d files\n", w.name, len(files[w.name]))
	}
	return os.WriteFile(traceFile, []byte(files.String()), 0o644) //nolint:gosec // for everybody
}

// drawPage draws the tables from the kept trace.
func drawPage() error {
	kept, err := os.ReadFile(traceFile)
	if err != nil {
		return err
	}
	page, err := os.ReadFile(pageFile)
	if err != nil {
		return err
	}
	drawn, gaps, err := draw(string(page), parseTrace(string(kept)))
	if err != nil {
		return err
	}
	for _, gap := range gaps {
		fmt.Println(gap)
	}
	if err := os.WriteFile(pageFile, []byte(drawn), 0o644); err != nil { //nolint:gosec // for everybody
		return err
	}
	if len(gaps) > 0 {
		return errGaps
	}
	return nil
}
