package config

import (
	"regexp"
	"slices"
	"strings"
)

// Misspelling is an environment variable that looks like a misspelt setting.
type Misspelling struct{ Name, Nearest string }

// ours matches names of environment variables that begin like a setting and that no other program uses.
var ours = regexp.MustCompile(`^(WEBHOOK|RATE_LIMIT)_`)

// strangers matches environment variables of other programs that resemble settings, such as those of Kubernetes.
var strangers = regexp.MustCompile(`_SERVICE_(HOST|PORT\w*)$|_PORT(_\d+_(TCP|UDP|SCTP)\w*)?$|^SESSION_ID$`)

// furthest is the number of letters by which a misspelt name may differ from a setting's.
const furthest = 4

// FindMisspellings returns environment variables that seem to be misspelt settings, sorted: an unset setting has
// the same first word and differs in at most a fifth of the letters.
func FindMisspellings(environ []string) []Misspelling {
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

// distance returns how many letters must be added, removed or replaced to turn a into b.
func distance(a, b string) int {
	row := make([]int, len(b)+1) // The distances from the part of a read so far to each beginning of b.
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

// RetriesWithoutWait reports whether WEBHOOK_RETRY_SCHEDULE repeats an attempt without a wait.
func (c Config) RetriesWithoutWait() bool {
	return len(c.WebhookRetrySchedule) > 1 && slices.Min(c.WebhookRetrySchedule[1:]) == 0
}
