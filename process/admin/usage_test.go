package admin

import (
	"reflect"
	"regexp"
	"strings"
	"testing"
	"time"

	"github.com/alecthomas/kong"
	"github.com/stretchr/testify/require"
)

// everyCommand gives each command and group of the program that help names, by its words.
func everyCommand(t *testing.T) map[string]*kong.Node {
	t.Helper()
	found := map[string]*kong.Node{}
	var visit func(n *kong.Node, path string)
	visit = func(n *kong.Node, path string) {
		found[path] = n
		for _, child := range n.Children {
			if !child.Hidden {
				visit(child, strings.TrimSpace(path+" "+child.Name))
			}
		}
	}
	visit(newParser(new(commands), streams{}, nil).Model.Node, "")
	require.Contains(t, found, "webhook replay")
	return found
}

func TestUsage_EveryMistake_NamesTheHelpOfItsCommand(t *testing.T) {
	for words := range everyCommand(t) {
		command := strings.TrimSpace("admin " + words)
		wrong := runLine(t, append(strings.Fields(words), "--no-such-flag")...)
		require.Equal(t, ran{2, "", "admin: unknown flag --no-such-flag\nTry: " + command + " --help\n"}, wrong)

		behind := runLine(t, append(strings.Fields(words), "--help")...)
		require.Zero(t, behind.exit, command)
		require.Regexp(t, "^Usage: "+command+"( |\n)", behind.stdout)
		require.Equal(t, behind, runLine(t, append([]string{"help"}, strings.Fields(words)...)...))
	}
}

func TestUsage_OtherMistakes(t *testing.T) {
	for line, want := range map[string]string{
		"":               "Try: admin --help",
		"parnter list":   "Try: admin --help",
		"webhook":        "Try: admin webhook --help",
		"webhook replay": "Try: admin webhook replay --help",
		"webhook probe":  "Try: admin webhook probe --help", // found by the command itself
		"operator show":  "Try: admin operator show --help",
		"audit export":   "Try: admin audit export --help",
		"audit export --from 2026-11-02 --to 2026-11-01": "--from must be before --to\nTry: admin audit export --help",
		"audit export --from 2026-11-01 --to 2026-11-01": "--from must be before --to\nTry: admin audit export --help",
		"partner explode":                        "Try: admin partner --help",
		"partner list --loud":                    "Try: admin partner list --help",
		"partner create --slug x":                "Try: admin partner create --help",
		"partner rate-limit x --per-minute many": "Try: admin partner rate-limit --help",
		"webhook probe --all --partner x":        "Try: admin webhook probe --help",
		"partner list --json":                    `:5432/database"}}`,
		"secrets rotate":                         "SECRETS_KEYSET: is required, the keyset to change",
		"secrets add-key":                        "SECRETS_KEYSET: is required, the keyset to change",
		"secrets use-key":                        "SECRETS_KEYSET: is required, the keyset to change",
		"account show --json":                    `Try: admin account show --help"}}`,
		"account show acct_1 --account acct_1":   "Try: admin account show --help",
		"audit export --from yesterday --to 2026-11-01": "--from: must be a date (2026-11-01) or a time (2026-11-01T15:00:00Z)\n" +
			"Try: admin audit export --help",
		"partner update --json": `Try: admin partner update --help"}}`,
		"help webhook explode":  "Try: admin webhook --help",
	} {
		got := runLine(t, strings.Fields(line)...)
		require.Equal(t, 2, got.exit, line)
		require.Empty(t, got.stdout, line)
		require.True(t, strings.HasSuffix(got.stderr, want+"\n"), "%s: %s", line, got.stderr)
	}
}

// valueOf is a value that a flag takes.
func valueOf(f *kong.Flag) string {
	switch {
	case f.Enum != "":
		return f.EnumSlice()[0]
	case f.Target.Kind() == reflect.Int:
		return "1"
	case f.Target.Type() == reflect.TypeFor[time.Time]():
		return "2026-08-01T15:00:00Z"
	}
	return "value-of-" + f.Name
}

// parse reads a command line, and gives the mistake that the parser or the command finds.
func parse(args []string) (line commands, mistake string) {
	if _, err := newParser(&line, streams{}, nil).Parse(args); err != nil {
		mistake = err.Error()
	}
	return line, mistake
}

// TestIDs_AreTakenAsArgumentsAndAsFlags finds out from the program which commands take ids, and tries every mixture of
// both forms.
func TestIDs_AreTakenAsArgumentsAndAsFlags(t *testing.T) {
	speaksOfID := regexp.MustCompile(`(?i)\b(id|slug)\b`)
	tried := 0
	for words, command := range everyCommand(t) {
		ids := idFlags(command)
		if len(ids) == 0 {
			for _, argument := range command.Positional {
				require.NotRegexp(t, speaksOfID, argument.Help, "%s: the argument is no flag", words)
			}
		}
		others := strings.Fields(words)
		for _, f := range command.Flags {
			isID := f.Tag.Has("id")
			require.False(t, f.Required && !isID && speaksOfID.MatchString(f.Help), "%s --%s has no tag id", words, f.Name)
			if f.Required && !isID {
				others = append(others, "--"+f.Name, valueOf(f))
			}
		}
		for mixture := range 1 << len(ids) {
			asFlags, mixed := others, others
			for at, f := range ids {
				asFlags = append(asFlags[:len(asFlags):len(asFlags)], "--"+f.Name, valueOf(f))
				if mixture&(1<<at) == 0 {
					mixed = append(mixed[:len(mixed):len(mixed)], valueOf(f))
				} else {
					mixed = append(mixed[:len(mixed):len(mixed)], "--"+f.Name+"="+valueOf(f))
				}
			}
			wantLine, wantMistake := parse(asFlags)
			gotLine, gotMistake := parse(mixed)
			require.Equal(t, wantLine, gotLine, "%v", mixed)
			require.Equal(t, wantMistake, gotMistake, "%v", mixed)
			require.NotContains(t, gotMistake, "missing flags", "%v", mixed)
			if len(ids) > 0 {
				_, twice := parse(append(asFlags, "another"))
				require.Contains(t, twice, "unexpected argument", "%v", asFlags)
				tried++
			}
		}
	}
	require.Positive(t, tried)
}
