package asynq

import (
	"context"
	"fmt"
	"log/slog"
	"sync"
	"time"
)

// quietLog passes on a message of asynq every ten seconds. Without Redis, asynq repeats a message several times a second.
type quietLog struct {
	log  *slog.Logger
	mu   sync.Mutex
	last time.Time
}

func (l *quietLog) say(level slog.Level, args []any) {
	l.mu.Lock()
	due := time.Since(l.last) > 10*time.Second
	if due {
		l.last = time.Now()
	}
	l.mu.Unlock()
	if due {
		l.log.Log(context.Background(), level, "queue: "+fmt.Sprint(args...))
	}
}

func (l *quietLog) Debug(...any)      {}
func (l *quietLog) Info(...any)       {}
func (l *quietLog) Warn(args ...any)  { l.say(slog.LevelWarn, args) }
func (l *quietLog) Error(args ...any) { l.say(slog.LevelError, args) }
func (l *quietLog) Fatal(args ...any) { l.say(slog.LevelError, args) }
