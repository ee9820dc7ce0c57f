package asynq

import (
	"context"
	"fmt"

	"partnerdeposits/ports/platform/outage"
)

// libraryLog logs the messages of asynq as an outage. Without Redis, asynq repeats a message several times a
// second.
type libraryLog struct{ outage *outage.Log }

func (l libraryLog) say(args []any) {
	l.outage.RecordFailure(context.Background(), "queue: "+fmt.Sprint(args...))
}

func (l libraryLog) Debug(...any)      {}
func (l libraryLog) Info(...any)       {}
func (l libraryLog) Warn(args ...any)  { l.say(args) }
func (l libraryLog) Error(args ...any) { l.say(args) }
func (l libraryLog) Fatal(args ...any) { l.say(args) }
