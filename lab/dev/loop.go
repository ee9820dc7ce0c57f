package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"time"

	"partnerdeposits/cmd/run"
	"partnerdeposits/lab/procs"
)

// stopGrace is the time that the running command has to end. It exceeds the command's own grace period.
const stopGrace = run.Grace + 5*time.Second

// loop builds and runs a command, again after every change of a source.
type loop struct {
	root       string // of the module
	command    string // package of the command, such as ./cmd/sandbox
	environ    []string
	generators []generator
	binaries   string // directory that takes the built commands
	out        io.Writer
	interval   time.Duration // between two readings of the tree

	running *procs.Process // nil before the first build that succeeds
	binary  string         // of the running command
	builds  int
}

// run works until ctx ends, then stops the command.
func (l *loop) run(ctx context.Context) error {
	defer l.stop()
	seen, err := take(l.root)
	if err != nil {
		return err
	}
	var pending []string // changed files since the last build that succeeded
	for {
		if err := l.rebuild(ctx, pending); err == nil {
			pending = nil
		} else if ctx.Err() == nil {
			l.say("the build failed, and nothing was restarted:\n%v", err)
		}
		now, err := awaitChange(ctx, l.root, seen, l.interval, l.ended(), func() { l.say("%s has ended; a change starts it again", l.command) })
		if ctx.Err() != nil {
			return nil
		}
		if err != nil {
			return err
		}
		changed := seen.changes(now)
		l.say("changed: %s%s", changed[0], more(len(changed)-1))
		seen, pending = now, append(pending, changed...)
	}
}

// rebuild builds the command, and replaces the running one only after the build succeeds.
func (l *loop) rebuild(ctx context.Context, changed []string) error {
	l.say("building %s", l.command)
	l.builds++
	binary, err := filepath.Abs(filepath.Join(l.binaries, fmt.Sprintf("build-%d", l.builds)))
	if err != nil {
		return err
	}
	if err := l.build(ctx, changed, binary); err != nil {
		return err
	}
	l.stop()
	l.binary = binary
	l.running, err = procs.Start(procs.Spec{Name: filepath.Base(l.command), Path: binary, Env: l.environ, Log: l.out})
	return err
}

// ended is closed when the running command ends; nil, which blocks, where none runs.
func (l *loop) ended() <-chan struct{} {
	if l.running == nil {
		return nil
	}
	return l.running.Done()
}

// stop ends the running command and waits until its process is gone.
func (l *loop) stop() {
	if l.running == nil {
		return
	}
	if err := l.running.Stop(stopGrace); err != nil {
		l.say("%v", err)
	}
	_ = os.Remove(l.binary) // the directory is removed in the end
	l.running = nil
}

func (l *loop) say(format string, args ...any) { fmt.Fprintf(l.out, "# dev: "+format+"\n", args...) }

func more(n int) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf(" and %d more", n)
}
