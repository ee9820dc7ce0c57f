package migrations

import (
	"context"
	"io/fs"
	"time"
)

// UpWith is Up with other files and another patience.
func UpWith(ctx context.Context, databaseURL string, files fs.FS, lockTimeout, giveUpAfter time.Duration,
	waits func(error)) error {
	p := patience{lockTimeout: lockTimeout, pause: 10 * time.Millisecond, giveUpAfter: giveUpAfter}
	return migrator{files: files, databaseURL: databaseURL, patience: p, waits: waits}.up(ctx)
}

// Steps gives the last version of each step of up, negative where the step runs outside transactions.
func Steps(files fs.FS) (numbers []int64) {
	for _, s := range steps(versions(files)) {
		if s.concurrent {
			s.number = -s.number
		}
		numbers = append(numbers, s.number)
	}
	return numbers
}
