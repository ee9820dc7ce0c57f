package main

import (
	"context"
	"errors"
	"io/fs"
	"path/filepath"
	"slices"
	"strings"
	"time"
)

// watched are the endings of the files whose change leads to a rebuild: Go sources and the files that they embed or are
// generated from.
var watched = []string{".go", ".mod", ".sum", ".sql", ".templ", ".css", ".js", ".gohtml", ".lua", ".yaml"}

// snapshot maps the path of each watched file to its state.
type snapshot map[string]state

type state struct {
	modified time.Time
	size     int64
}

// take reads the state of every watched file below root, except in hidden directories and in bin.
func take(root string) (snapshot, error) {
	all := snapshot{}
	err := filepath.WalkDir(root, func(path string, entry fs.DirEntry, err error) error {
		switch {
		case errors.Is(err, fs.ErrNotExist):
			return nil // removed while the tree was read
		case err != nil:
			return err
		case entry.IsDir() && path != root && (strings.HasPrefix(entry.Name(), ".") || entry.Name() == "bin"):
			return filepath.SkipDir
		case entry.IsDir() || !isWatched(path):
			return nil
		}
		info, err := entry.Info()
		if err == nil {
			all[path] = state{info.ModTime(), info.Size()}
		} else if !errors.Is(err, fs.ErrNotExist) {
			return err
		}
		return nil
	})
	return all, err
}

func isWatched(path string) bool {
	return slices.Contains(watched, filepath.Ext(path)) && !strings.HasSuffix(path, "_test.go") && !isGenerated(path)
}

// isGenerated recognises generated Go files. Only their sources count: a generator that writes them must not cause
// another restart.
func isGenerated(path string) bool {
	return strings.HasSuffix(path, "_templ.go") || strings.HasSuffix(path, ".gen.go") || strings.HasSuffix(filepath.Dir(path), "/internal/sqlc")
}

// changes lists the files that were added, changed or removed, sorted.
func (before snapshot) changes(after snapshot) []string {
	var paths []string
	for path, now := range after {
		if was, known := before[path]; !known || was != now {
			paths = append(paths, path)
		}
	}
	for path := range before {
		if _, there := after[path]; !there {
			paths = append(paths, path)
		}
	}
	slices.Sort(paths)
	return paths
}

// awaitChange polls until files differ from before and have then stayed the same for an interval: a program that writes
// several files causes a single rebuild. ended is closed when the running command ends, which calls onEnd once.
func awaitChange(ctx context.Context, root string, before snapshot, interval time.Duration, ended <-chan struct{}, onEnd func()) (snapshot, error) {
	ticker := time.NewTicker(interval)
	defer ticker.Stop()
	last := before
	for {
		select {
		case <-ctx.Done():
			return nil, ctx.Err()
		case <-ended:
			onEnd()
			ended = nil
			continue
		case <-ticker.C:
		}
		now, err := take(root)
		if err != nil {
			return nil, err
		}
		if len(before.changes(now)) > 0 && len(last.changes(now)) == 0 {
			return now, nil
		}
		last = now
	}
}
