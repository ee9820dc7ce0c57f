package admin

import (
	"errors"
	"fmt"
	"slices"

	"github.com/alecthomas/kong"
)

// errMixedArguments is the error for a command declared with both arguments and flags of ids: flags of ids also
// work as arguments, as in `admin key revoke key_…`.

var errMixedArguments = errors.New("a command with flags of ids declares no arguments")

// idFlags returns a command's flags that take ids. The i-th also works as the i-th argument.
func idFlags(command *kong.Node) (flags []*kong.Flag) {
	return slices.DeleteFunc(slices.Clone(command.Flags), func(f *kong.Flag) bool { return !f.Tag.Has("id") })
}

// addArguments adds an argument to the command for each flag of an id.
func addArguments(k *kong.Kong) error {
	for _, command := range k.Model.Leaves(false) {
		flags := idFlags(command)
		if len(flags) > 0 && len(command.Positional) > 0 {
			return fmt.Errorf("%w: %s", errMixedArguments, command.Path())
		}
		for at, f := range flags {
			argument := *f.Value
			argument.Flag, argument.Required, argument.Position = nil, false, at
			argument.Help += " Or --" + f.Name + "."
			command.Positional = append(command.Positional, &argument)
		}
	}
	return nil
}

// BeforeApply assigns each argument to the first flag of an id that was not given, before kong stores the values.
func (*commands) BeforeApply(line *kong.Context) error {
	command := line.Selected()
	if command == nil || len(idFlags(command)) == 0 {
		return nil
	}
	open := slices.DeleteFunc(idFlags(command), func(f *kong.Flag) bool { return f.Set })
	for _, p := range line.Path {
		if p.Positional == nil {
			continue
		}
		if len(open) == 0 {
			return fmt.Errorf("unexpected argument %v: every id is named already", line.Value(p))
		}
		p.Positional.Target, open[0].Set, open = open[0].Target, true, open[1:]
	}
	return nil
}

// printHelp prints a command's help with its ids shown as arguments.
func printHelp(o kong.HelpOptions, line *kong.Context) error {
	for _, command := range line.Model.Leaves(false) {
		for at, f := range idFlags(command) {
			command.Positional[at].Required, f.Required = f.Required, false
		}
	}
	return kong.DefaultHelpPrinter(o, line)
}
