package admin

import (
	"fmt"
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

type completionCommand struct {
	Shell string `arg:"" enum:"bash,zsh,fish" help:"The shell: ${enum}."`
}

// scripts ask `admin __complete` for the words that may come next, so they never go out of date.
var scripts = map[string]string{
	"bash": `_admin() {
    COMPREPLY=($(compgen -W "$("${COMP_WORDS[0]}" __complete -- "${COMP_WORDS[@]:1:COMP_CWORD-1}" 2>/dev/null)" -- "${COMP_WORDS[COMP_CWORD]}"))
}
complete -F _admin admin
`,
	"zsh": `#compdef admin
_admin() {
    compadd -- ${(f)"$("${words[1]}" __complete -- "${(@)words[2,CURRENT-1]}" 2>/dev/null)"}
}
compdef _admin admin
`,
	"fish": `function __admin_complete
    set -l words (commandline -opc)
    $words[1] __complete -- $words[2..-1] 2>/dev/null
end
complete -c admin -f -a '(__admin_complete)'
`,
}

// Run prints the script.
func (s completionCommand) Run(c *call) error {
	_, err := fmt.Fprint(c.stdout, scripts[s.Shell])
	return err
}

type completeCommand struct {
	Words []string `arg:"" optional:""`
}

// Run lists the words that may follow, a line each.
func (w completeCommand) Run(c *call) error {
	words := w.Words
	if len(words) > 0 && words[0] == "--" {
		words = words[1:]
	}
	for _, next := range following(c.parser.Model, words) {
		if _, err := fmt.Fprintln(c.stdout, next); err != nil {
			return err
		}
	}
	return nil
}

// following gives the words that may follow words: commands, the values of a flag or an argument, or flags that were
// not given.
func following(app *kong.Application, words []string) []string {
	t := typed{node: app.Node, flags: slices.Clone(app.Flags), given: map[string]bool{}}
	for _, word := range words {
		t.take(word)
	}
	return t.next()
}

// typed is the state of a command line that is being typed.
type typed struct {
	node      *kong.Node   // the command so far
	flags     []*kong.Flag // that may be given
	given     map[string]bool
	arguments int
	open      *kong.Flag // waits for its value
}

// take reads a whole word.
func (t *typed) take(word string) {
	name, isFlag := strings.CutPrefix(word, "--")
	switch {
	case t.open != nil:
		t.open = nil
	case isFlag:
		name, _, whole := strings.Cut(name, "=")
		t.given[name] = true
		at := slices.IndexFunc(t.flags, func(f *kong.Flag) bool { return f.Name == name })
		if at >= 0 && !whole && !t.flags[at].IsBool() {
			t.open = t.flags[at]
		}
	case t.node.Parent == nil && word == "help": // the words of a command follow
	default:
		at := slices.IndexFunc(t.node.Children, func(n *kong.Node) bool { return n.Name == word && !n.Hidden })
		if at < 0 {
			t.arguments++
			return
		}
		t.node = t.node.Children[at]
		t.flags = append(t.flags, t.node.Flags...)
	}
}

// next gives the words that may come next.
func (t *typed) next() (words []string) {
	if t.open != nil {
		return values(t.open.Value)
	}
	for _, child := range t.node.Children {
		if !child.Hidden {
			words = append(words, child.Name)
		}
	}
	if t.arguments < len(t.node.Positional) {
		words = append(words, values(t.node.Positional[t.arguments])...)
	}
	open := slices.DeleteFunc(idFlags(t.node), func(f *kong.Flag) bool { return t.given[f.Name] })
	named := open[:min(t.arguments, len(open))] // by arguments
	for _, f := range t.flags {
		if !f.Hidden && !slices.Contains(named, f) && (!t.given[f.Name] || f.IsSlice()) {
			words = append(words, "--"+f.Name)
		}
	}
	return words
}

// values gives the closed list of a flag's or argument's values; none if the list is open.
func values(v *kong.Value) []string {
	if v.Enum == "" {
		return nil
	}
	return v.EnumSlice()
}
