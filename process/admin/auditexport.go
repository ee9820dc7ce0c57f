package admin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"os/signal"
	"syscall"
	"time"

	"partnerdeposits/app/support"
	"partnerdeposits/core/id"
	ports "partnerdeposits/ports/platform"
	"partnerdeposits/process/config"
	"partnerdeposits/process/wire"
)

const codeIncomplete = "export_incomplete"

// timeBound is a time on the command line, as RFC 3339 or as a date, the beginning of that day in UTC.
type timeBound time.Time

var errNoBound = errors.New("must be a date (2026-11-01) or a time (2026-11-01T15:00:00Z)")

func (b *timeBound) UnmarshalText(text []byte) error {
	for _, form := range []string{time.RFC3339Nano, time.DateOnly} {
		if t, err := time.Parse(form, string(text)); err == nil {
			*b = timeBound(t.UTC())
			return nil
		}
	}
	return errNoBound
}

type auditExport struct {
	From timeBound `required:"" help:"Entries at this time and later: a time such as 2026-11-01T15:00:00Z, or a date for its beginning in UTC …"`
	To   timeBound `required:"" help:"… and before this one."`
}

// stillOpen is longer than any transaction, so that no older entry of the audit log can still be missing.
const stillOpen = time.Minute

// Run prints each audit entry of the range as a line of JSON, and their number on stderr. Missing lines are an
// error.
func (e auditExport) Run(c *call) error {
	from, end := time.Time(e.From), time.Time(e.To)
	if !from.Before(end) {
		return wrongUsage{errors.New("--from must be before --to"), c.command}
	}
	if end.After(c.now.Add(-stillOpen)) {
		c.note("the time ends less than a minute ago, or later: further entries may join it")
	}
	// With SIGPIPE ignored, writes to a closed pipe return an error instead of ending the process.
	signal.Ignore(syscall.SIGPIPE)
	return c.with(config.RequiredForSecrets, func(a *wire.AdminCommands, _ config.Config) error {
		p := c.progress("entries")
		defer p.end()
		var done int64
		err := a.Support.ExportAuditLog(c.ctx, from, end, func(page []ports.AuditEntry) error {
			var lines bytes.Buffer
			for _, entry := range page {
				if err := printJSON(&lines, auditLine(entry)); err != nil {
					return err
				}
			}
			if err := writeUntil(c.ctx, c.stdout, lines.Bytes()); err != nil {
				return err
			}
			done += int64(len(page))
			if len(page) == support.ExportPageSize && !isTerminal(c.stdout) {
				p.report(time.Now(), done, 0, "")
			}
			return nil
		})
		if err != nil {
			return incomplete(c.ctx, done, err)
		}
		if !isTerminal(c.stdout) {
			p.report(time.Now(), done, done, "")
		}
		return nil
	})
}

func auditLine(e ports.AuditEntry) fields {
	return fields{
		{"id", id.AuditEntry.Of(e.ID)}, {"at", at(e.At)}, {"actor", e.Actor.String()}, {"action", e.Action},
		{"subject", e.Subject}, {"requestId", textOrNone(e.RequestID)}, {"detail", pairs(e.Detail)},
	}
}

// incomplete returns the error of an export that ended after at least done entries.
func incomplete(ctx context.Context, done int64, err error) error {
	if ctx.Err() != nil {
		return codedError{codeInterrupted,
			fmt.Errorf("interrupted; the export is incomplete: at least %d entries were written", done)}
	}
	return codedError{codeIncomplete,
		fmt.Errorf("the export is incomplete: at least %d entries were written: %w", done, explained(err))}
}

// writeUntil writes text, or returns the error of ctx if that ends first, since a pipe's reader may have stopped.
// The caller must not change text afterwards.
func writeUntil(ctx context.Context, w io.Writer, text []byte) error {
	written := make(chan error, 1)
	go func() {
		_, err := w.Write(text)
		written <- err
	}()
	select {
	case <-ctx.Done():
		return ctx.Err()
	case err := <-written:
		return err
	}
}

// note prints a remark to stderr, as JSON if the command prints JSON.
func (c *call) note(text string) {
	if c.json {
		_ = printJSON(c.stderr, fields{{"note", text}})
		return
	}
	fmt.Fprintln(c.stderr, text)
}
