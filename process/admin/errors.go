package admin

import (
	"errors"
	"fmt"
	"io"
	"strings"

	"github.com/alecthomas/kong"

	"partnerdeposits/core/connect"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/partner"
	"partnerdeposits/process/config"
	"partnerdeposits/process/run"
)

// exitInterrupted is the exit code of a command that Ctrl-C or SIGTERM ended: 128 and the number of SIGINT, as shells
// say.
const exitInterrupted = 130

// Codes of errors that are no faults of a rule (operations.md, "Admin CLI").
const (
	codeFailed      = "failed"
	codeUsage       = "wrong_usage"
	codeConfig      = "wrong_configuration"
	codeInterrupted = "interrupted"
)

// wrongUsage is a command line that the parser or the command refuses.
type wrongUsage struct {
	error
	command string // whose help tells more
}

// misused is the error of the parser, with the command that it came to.
func misused(err error) error {
	command := "admin"
	if at := new(kong.ParseError); errors.As(err, &at) {
		command = commandOf(at.Context)
	}
	return wrongUsage{err, command}
}

// coded is an error with the code that --json prints.
type coded struct {
	code string
	error
}

func (c coded) Unwrap() error { return c.error }

// interrupted is the error of a command that a signal ended.
type interrupted struct{ cause error }

func (interrupted) Error() string   { return "interrupted; nothing is half done" }
func (i interrupted) Unwrap() error { return i.cause }

// interruptedAt keeps the error of a command that says itself how to go on.
func interruptedAt(err error) error {
	if errors.As(err, new(coded)) && codeOf(err) == codeInterrupted {
		return err
	}
	return coded{codeInterrupted, interrupted{err}}
}

// fail prints err and gives the exit code.
func fail(stderr io.Writer, asJSON bool, err error) int {
	code, text := codeOf(err), explained(err).Error()
	if asJSON {
		text = strings.TrimPrefix(text, code+": ")
		// no place is left to report a failed write
		_ = printJSON(stderr, fields{{"error", fields{{"code", code}, {"message", text}}}})
	} else {
		fmt.Fprintln(stderr, text)
	}
	switch code {
	case codeUsage, codeConfig:
		return run.ExitUsage
	case codeInterrupted:
		return exitInterrupted
	}
	return run.ExitFailure
}

// codeOf gives the code of an error.
func codeOf(err error) string {
	var own coded
	switch {
	case errors.As(err, new(wrongUsage)):
		return codeUsage
	case errors.As(err, new(config.Mistakes)):
		return codeConfig
	case errors.As(err, &own):
		return own.code
	}
	if f := fault.Of(err); f.Kind != fault.Internal {
		return f.Code
	}
	return codeFailed
}

// forStaff words errors whose messages are for operators in a browser.
var forStaff = map[string]string{
	partner.ErrNotFound.Code:             "There is no such partner. `admin partner list` lists them all.",
	connect.ErrMissingConnectSecret.Code: "The partner has no connect secret. `admin connect-secret rotate` makes a new connect secret.",
}

// explained puts the error code before the message that an API caller would read, or staff's, and adds the cause of an
// unreachable store.
func explained(err error) error {
	if wrong := (wrongUsage{}); errors.As(err, &wrong) {
		return fmt.Errorf("admin: %w\nTry: %s --help", err, wrong.command)
	}
	if errors.As(err, new(coded)) {
		return err
	}
	f := fault.Of(err)
	switch f.Kind {
	case fault.Internal:
		return err
	case fault.Unavailable:
		if f.Unwrap() != nil {
			return fmt.Errorf("the database cannot be reached: %w", f.Unwrap())
		}
	}
	if words, there := forStaff[f.Code]; there {
		return fmt.Errorf("%s: %s", f.Code, words)
	}
	return fmt.Errorf("%s: %s", f.Code, f.Message)
}

// flagged replaces the field that an invalid_field names by the flag of the command line. flags maps fields to flags.
func flagged(err error, flags map[string]string) error {
	if !errors.Is(err, fault.ErrInvalidField) {
		return err
	}
	field, problem, _ := strings.Cut(fault.Of(err).Message, ": ")
	if flag, there := flags[field]; there {
		return fault.ErrInvalidField.WithField(flag, "%s", problem)
	}
	return err
}
