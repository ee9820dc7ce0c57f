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

// scripts holds the completion script of each shell, which runs `admin __complete` to get the words that may come
// next.
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

func (s completionCommand) Run(c *call) error {
	_, err := fmt.Fprint(c.stdout, scripts[s.Shell])
	return err
}

type completeCommand struct {
	Words []string `arg:"" optional:""`
}

// Run prints the words that may come next on the command line, one a line.
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

// following returns the words that may follow on a command line: commands, values, and flags not given yet.
func following(app *kong.Application, words []string) []string {
	t := typed{node: app.Node, flags: slices.Clone(app.Flags), given: map[string]bool{}}
	for _, word := range words {
		t.take(word)
	}
	return t.next()
}

// typed is the state of a command line being typed, for its completion.
type typed struct {
	node      *kong.Node
	flags     []*kong.Flag
	given     map[string]bool
	arguments int
	// The flag whose value comes next on the command line; nil if none.
	open *kong.Flag
}

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
	// The words of a command follow the word "help", which is skipped.
	case t.node.Parent == nil && word == "help":
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
	// Flags of ids that arguments have set already are not offered again.
	named := open[:min(t.arguments, len(open))]
	for _, f := range t.flags {
		if !f.Hidden && !slices.Contains(named, f) && (!t.given[f.Name] || f.IsSlice()) {
			words = append(words, "--"+f.Name)
		}
	}
	return words
}

// values returns the possible values of a flag or an argument; none if any is allowed.
func values(v *kong.Value) []string {
	if v.Enum == "" {
		return nil
	}
	return v.EnumSlice()
}
