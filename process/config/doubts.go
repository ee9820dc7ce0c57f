package config

import (
	"regexp"
	"slices"
	"strings"
)

// Misspelling is an environment variable that no setting reads and that looks like one.
type Misspelling struct{ Name, Nearest string }

// ours are the beginnings of names that nobody else uses.
var ours = regexp.MustCompile(`^(WEBHOOK|RATE_LIMIT)_`)

// strangers are variables that Kubernetes sets for a service called webhook, database or redis, and that of a terminal.
var strangers = regexp.MustCompile(`_SERVICE_(HOST|PORT\w*)$|_PORT(_\d+_(TCP|UDP|SCTP)\w*)?$|^SESSION_ID$`)

// furthest is how many letters may differ.
const furthest = 4

// Misspelt lists the variables that seem to be misspelt settings, by name. A name is near a setting that is not set,
// has the same first word, and differs in a fifth of its letters at most.
func Misspelt(environ []string) []Misspelling {
	known, set := map[string]bool{}, map[string]bool{}
	for _, s := range settings(Config{}) {
		known[s.name()] = true
		if s.isSecret() {
			known[s.name()+fileSuffix] = true
		}
	}
	for _, pair := range environ {
		if name, value, _ := strings.Cut(pair, "="); value != "" {
			set[name] = true
		}
	}
	var found []Misspelling
	for name := range set {
		if known[name] || strangers.MatchString(name) {
			continue
		}
		nearest, least := "", len(name)
		for setting := range known {
			if d := distance(name, setting); d < least || d == least && setting < nearest {
				nearest, least = setting, d
			}
		}
		first, _, _ := strings.Cut(name, "_")
		near := strings.HasPrefix(nearest, first+"_") && least <= min(furthest, len(nearest)/5) && !set[nearest]
		if near || ours.MatchString(name) {
			found = append(found, Misspelling{name, nearest})
		}
	}
	slices.SortFunc(found, func(a, b Misspelling) int { return strings.Compare(a.Name, b.Name) })
	return found
}

// distance is how many letters have to be added, removed or replaced to make b of a.
func distance(a, b string) int {
	row := make([]int, len(b)+1) // of the beginning of a, to each beginning of b
	for j := range row {
		row[j] = j
	}
	for i := range len(a) {
		before := row[0]
		row[0]++
		for j := range len(b) {
			replaced := before
			if a[i] != b[j] {
				replaced++
			}
			before, row[j+1] = row[j+1], min(replaced, row[j]+1, row[j+1]+1)
		}
	}
	return row[len(b)]
}

// RepeatsAtOnce tells whether an attempt follows a failed one without a wait.
func (c Config) RepeatsAtOnce() bool {
	return len(c.WebhookRetrySchedule) > 1 && slices.Min(c.WebhookRetrySchedule[1:]) == 0
}
