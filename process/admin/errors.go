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

// exitInterrupted is the exit code after a signal: 128 and the number of SIGINT, as in shells.
const exitInterrupted = 130

// The codes of errors that come from the command itself (operations.md, "Admin CLI").
const (
	codeFailed      = "failed"
	codeUsage       = "wrong_usage"
	codeConfig      = "wrong_configuration"
	codeInterrupted = "interrupted"
)

// wrongUsage is the error for a command line that is refused.
type wrongUsage struct {
	error
	command string // The admin command whose help the error message recommends.
}

// misused returns the parser's error with the command that the line names.
func misused(err error) error {
	command := "admin"
	if at := new(kong.ParseError); errors.As(err, &at) {
		command = commandOf(at.Context)
	}
	return wrongUsage{err, command}
}

// codedError is an error with a code, which --json prints.
type codedError struct {
	code string
	error
}

func (c codedError) Unwrap() error { return c.error }

type interruptedError struct{ cause error }

func (interruptedError) Error() string   { return "interrupted; nothing is half done" }
func (i interruptedError) Unwrap() error { return i.cause }

// interruptedAt returns the error of a command that a signal ended. An error that describes how to continue is
// kept.
func interruptedAt(err error) error {
	if errors.As(err, new(codedError)) && codeOf(err) == codeInterrupted {
		return err
	}
	return codedError{codeInterrupted, interruptedError{err}}
}

func fail(stderr io.Writer, asJSON bool, err error) int {
	code, text := codeOf(err), explained(err).Error()
	if asJSON {
		text = strings.TrimPrefix(text, code+": ")
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

func codeOf(err error) string {
	var own codedError
	switch {
	case errors.As(err, new(wrongUsage)):
		return codeUsage
	case errors.As(err, new(config.Mistakes)):
		return codeConfig
	case errors.As(err, &own):
		return own.code
	}
	if f := fault.FromError(err); f.Kind != fault.Internal {
		return f.Code
	}
	return codeFailed
}

// forStaff holds messages for staff, by the code of the fault, in place of those for operators.
var forStaff = map[string]string{
	partner.ErrNotFound.Code:             "There is no such partner. `admin partner list` lists them all.",
	connect.ErrMissingConnectSecret.Code: "The partner has no connect secret. `admin connect-secret rotate` makes a new connect secret.",
}

// explained returns the error as it is printed: code, message for staff or callers, and cause if the database is
// unreachable.
func explained(err error) error {
	if wrong := (wrongUsage{}); errors.As(err, &wrong) {
		return fmt.Errorf("admin: %w\nTry: %s --help", err, wrong.command)
	}
	if errors.As(err, new(codedError)) {
		return err
	}
	f := fault.FromError(err)
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

// flagged returns an invalid_field error that names the command-line flag in place of the field.
func flagged(err error, flags map[string]string) error {
	if !errors.Is(err, fault.ErrInvalidField) {
		return err
	}
	field, problem, _ := strings.Cut(fault.FromError(err).Message, ": ")
	if flag, there := flags[field]; there {
		return fault.ErrInvalidField.WithField(flag, "%s", problem)
	}
	return err
}
