package admin

import (
	"bufio"
	"errors"
	"fmt"
	"os"
	"strings"

	"github.com/mattn/go-isatty"
)

var errNotConfirmed = codedError{"not_confirmed", errors.New("not confirmed; nothing was changed")}

// confirm asks the person at the terminal to confirm a change that cannot be undone. Without a terminal nothing is
// asked, since a script has decided (operations.md, "Admin CLI").
func (c *call) confirm(format string, args ...any) error {
	switch {
	case c.yes:
		return nil
	case !c.terminal:
		if isTerminal(c.stderr) && !c.json {
			fmt.Fprintln(c.stderr, "Nobody is asked: stdin or stdout is no terminal, and a piped answer is not read.")
		}
		return nil
	}
	fmt.Fprintf(c.stderr, format+" This cannot be undone. Go on? [y/N] ", args...)
	type answer struct {
		text string
		err  error
	}
	read := make(chan answer, 1)
	go func() {
		text, err := bufio.NewReader(c.stdin).ReadString('\n')
		read <- answer{text, err}
	}()
	select {
	case <-c.ctx.Done():
		fmt.Fprintln(c.stderr)
		return c.ctx.Err()
	case got := <-read:
		switch strings.ToLower(strings.TrimSpace(got.text)) {
		case "y", "yes":
			return nil
		}
		return errNotConfirmed
	}
}

func (s streams) isTerminal() bool { return isTerminal(s.stdin) && isTerminal(s.stdout) }

func isTerminal(stream any) bool {
	file, is := stream.(*os.File)
	return is && isatty.IsTerminal(file.Fd())
}
