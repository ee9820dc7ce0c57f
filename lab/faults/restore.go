package main

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"net/http"
	"path/filepath"
	"time"

	"partnerdeposits/lab/procs"
	"partnerdeposits/lab/world"
)

// runRestore restores the database from a backup, as docs/guides/restore.md describes, while followers read every feed.
//
// Numbers that were given after the backup are given once more, to other events. A follower notices the restore in one
// of two ways: its number is above the last number and is refused, or the answer is of another feed. Then it reads
// anew, and ends with every change that the restored service knows. dir has the commands.
func runRestore(ctx context.Context, o options, dir string) error {
	say := o.logf
	o.logf = func(string, ...any) {}
	return inSuite(ctx, o, dir, sound, func(w *suite) error {
		r := &restoration{suite: w, dump: filepath.Join(dir, "backup"), before: map[*follower]bookmark{}}
		w.load.start(o.rate)
		if err := inTurn(ctx, r.backUp, r.goOn, r.restore, r.refuse, r.overtake, r.end, r.drop); err != nil {
			return err
		}
		say("a restore: %d numbers were taken back, %d events followed from the beginning; %v", r.lost, r.found.followed,
			r.found.feed)
		return w.violated()
	})
}

// restoration is a restore from a backup.
type restoration struct {
	*suite
	dump   string // path of the backup
	taken  period // changes answered in it are taken back, or may be
	before map[*follower]bookmark
	lost   int64 // numbers that were given after the backup
	found  tally
}

// last is the follower that does not read until its feed has overtaken its number.
func (r *restoration) last() *follower { return r.followers[0] }

// backUp dumps the database under load.
func (r *restoration) backUp(ctx context.Context) error {
	if err := pause(ctx, 2*time.Second); err != nil {
		return err
	}
	r.taken.from = time.Now()
	return command(ctx, nil, "pg_dump", "--format=custom", "--file="+r.dump, r.databaseURL(""))
}

// goOn lets the service accept changes that the restore takes back, and stops it.
func (r *restoration) goOn(ctx context.Context) error {
	if err := r.awaitNumbers(ctx); err != nil {
		return err
	}
	r.load.stop()
	if err := r.awaitFed(ctx); err != nil {
		return err
	}
	for _, f := range r.followers {
		f.change(func() { f.restoring, f.held, r.before[f] = true, true, f.kept })
	}
	err := each(ctx, r.nodes(), (*node).stop)
	r.taken.to = time.Now()
	return err
}

// awaitNumbers waits until every feed has got numbers since the backup, which the restore takes back.
func (r *restoration) awaitNumbers(ctx context.Context) error {
	const more = 5
	backedUp, err := r.lastNumbers(ctx)
	if err != nil {
		return err
	}
	grown, err := poll(ctx, 50*ms, r.o.deadline, func() (bool, error) {
		given, err := r.lastNumbers(ctx)
		for _, f := range r.followers {
			if given[f.owner.ID] < backedUp[f.owner.ID]+more {
				return false, err
			}
		}
		return true, err
	})
	if err == nil && !grown {
		return errors.New("a feed got no numbers after the backup")
	}
	return err
}

// restore restores the backup into another database, ends the restore, and starts the service.
func (r *restoration) restore(ctx context.Context) error {
	url, err := world.Create(ctx, r.services.PostgresURL, restoredTo, serviceRole)
	if err != nil {
		return err
	}
	r.Database.Close(ctx)
	r.database = restoredTo
	err = command(ctx, nil, "pg_restore", "--no-owner", "--exit-on-error", "--dbname="+url, r.dump)
	if err != nil {
		return err
	}
	if err := errors.Join(r.openDatabase(ctx), r.admin(ctx, "restore-finish")); err != nil {
		return err
	}
	given, err := r.lastNumbers(ctx)
	for f, at := range r.before {
		r.lost += at.after - given[f.owner.ID]
	}
	if r.lost <= 0 {
		r.receipts.violate("restore", "no number was taken back")
	}
	return errors.Join(err, each(ctx, r.nodes(), (*node).begin))
}

// command runs a program to its end.
func command(ctx context.Context, environment []string, path string, args ...string) error {
	_, err := procs.Must(ctx, procs.Spec{Name: path, Path: path, Args: args, Env: environment})
	return err
}

// admin runs a command of operators.
func (w *suite) admin(ctx context.Context, args ...string) error {
	environment := append(w.environment(), "DATABASE_URL="+w.databaseURL(""), "REDIS_URL="+w.services.RedisURL)
	return command(ctx, environment, filepath.Join(w.dir, "admin"), args...)
}

// refuse lets all followers but one read on. Their numbers are above the last number of the restored feed.
func (r *restoration) refuse(ctx context.Context) error {
	for _, f := range r.followers[1:] {
		if err := r.readOn(ctx, f); err != nil {
			return err
		}
	}
	if c := r.answered(); c[refusedAnswers] == 0 {
		r.receipts.violate("restore", "no number above the last was refused: %v", c)
	}
	return nil
}

// readOn lets a follower read until it has noticed the restore.
func (r *restoration) readOn(ctx context.Context, f *follower) error {
	f.change(func() { f.held = false })
	noticed, err := poll(ctx, 50*ms, r.o.deadline,
		func() (bool, error) { return f.now().kept.feedID != r.before[f].feedID, nil })
	if err == nil && !noticed {
		r.receipts.violate("restore", "%s has not noticed the restore within %v", f.owner.Name, r.o.deadline)
	}
	return err
}

// overtake makes so many changes that the restored feed passes the number that the last follower keeps. The follower
// would pass over events, did it not compare feedId.
func (r *restoration) overtake(ctx context.Context) error {
	r.load.start(r.o.rate)
	f := r.last()
	if _, err := poll(ctx, 50*ms, r.o.deadline, func() (bool, error) {
		given, err := r.lastNumbers(ctx)
		return given[f.owner.ID] > r.before[f].after, err
	}); err != nil {
		return err
	}
	if err := r.readOn(ctx, f); err != nil {
		return err
	}
	if c := f.now().counts; c[otherFeeds] != 1 || c[refusedAnswers] != 0 {
		r.receipts.violate("restore", "%s noticed the restore otherwise than by feedId: %v", f.owner.Name, c)
	}
	return nil
}

// end stops the load, and compares the feeds with the changes that the restored service knows.
func (r *restoration) end(ctx context.Context) error {
	r.load.stop()
	if err := r.awaitExpiries(ctx); err != nil {
		return err
	}
	a := &audit{suite: r.suite, cut: time.Now(), exempt: r.taken}
	_, err := r.until(ctx, a.cut, func() (bool, error) {
		left, err := value[int](ctx, r.suite, `SELECT count(*) FROM outbox`)
		return left == 0, err
	})
	if err = errors.Join(err, r.awaitFed(ctx)); err != nil {
		return err
	}
	r.unfollow()
	err = a.readFacts(ctx)
	a.feeds(ctx)
	r.found = a.result
	return err
}

// drop lets retention drop the first events of a feed. A number below the oldest is refused, and never passed over.
func (r *restoration) drop(ctx context.Context) error {
	f := r.last()
	const kept = 3
	first := f.now().kept.after - kept + 1
	err := r.exec(ctx,
		fmt.Sprintf(`UPDATE event_feeds SET oldest_sequence = %d WHERE partner_id = '%s'`, first, f.owner.ID))
	if err != nil {
		return err
	}
	a, _ := r.call(ctx, f.owner, http.MethodGet, fmt.Sprintf("/events/feed?after=%d", first-2), "") // the answer tells
	if a.Status != http.StatusBadRequest {
		r.receipts.violate("restore", "%d is below the oldest number %d and was answered %d %s", first-2, first,
			a.Status, a.Body)
	}
	for _, path := range []string{"/events/feed", fmt.Sprintf("/events/feed?after=%d", first-1)} {
		if a, err = r.call(ctx, f.owner, http.MethodGet, path, ""); err != nil {
			return err
		}
		var page feedAnswer
		if err := json.Unmarshal(a.Body, &page); err != nil {
			return err
		}
		f.change(func() {
			if !f.show(page, bookmark{after: first - 1}) || len(page.Data) != kept {
				r.receipts.violate("restore", "%s was answered %s", path, a.Body)
			}
		})
	}
	return nil
}
