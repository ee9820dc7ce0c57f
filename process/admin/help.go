package admin

import (
	"slices"
	"strings"

	"github.com/alecthomas/kong"
)

type helpCommand struct {
	Words []string `arg:"" optional:"" name:"word" help:"The words of the command, such as webhook replay."`
}

func (h helpCommand) Run(c *call) error {
	helped := false
	_, err := newParser(new(commands), c.streams, func(int) { helped = true }).
		Parse(append(slices.Clone(h.Words), "--help"))
	if helped {
		return nil
	}
	return misused(err)
}

func commandOf(line *kong.Context) string {
	words := []string{line.Model.Name}
	for _, p := range line.Path {
		if p.Command != nil {
			words = append(words, p.Command.Name)
		}
	}
	return strings.Join(words, " ")
}
