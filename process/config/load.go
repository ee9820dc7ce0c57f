package config

import (
	"cmp"
	"errors"
	"fmt"
	"log/slog"
	"maps"
	"reflect"
	"slices"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"

	"partnerdeposits/core/deposit"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/webhook"
)

// Mistakes lists the environment variables that are missing or wrong, one a line.
type Mistakes []string

func (m Mistakes) Error() string {
	return fmt.Sprintf("the configuration has %d %s:\n  - %s", len(m), plural("mistake", len(m)),
		strings.Join(m, "\n  - "))
}

func plural(noun string, n int) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// Load reads the configuration from environ, in the form of os.Environ, and from the files that it names for
// secrets (settings.md, "Secrets from files").
//
// The only error is Mistakes, which is complete and contains no value that may be secret.
func Load(environ []string, needs RequiredVariables) (Config, error) {
	set := map[string]string{}
	for _, pair := range environ {
		if name, value, _ := strings.Cut(pair, "="); value != "" {
			set[name] = value
		}
	}
	c := Config{WebhookRetrySchedule: DurationList(webhook.DefaultRetrySchedule),
		CollectionRetrySchedule: DurationList(deposit.DefaultCollectionSchedule())}
	unread := readFiles(set)
	found := parse(&c, set)
	maps.Copy(found, unread)
	if c.Environment == partner.EnvironmentDevelopment {
		local := localBaseURL(c.HTTPAddr, "localhost")
		c.APIBaseURL, c.DashboardBaseURL = cmp.Or(c.APIBaseURL, local), cmp.Or(c.DashboardBaseURL, local)
		if set["DRAIN_DELAY"] == "" {
			c.DrainDelay = 0 // Development has no load balancer, so Ctrl-C stops the process at once.
		}
	}
	for _, s := range settings(c) {
		if slices.Contains(needs, s.name()) {
			found.add(s.name(), s.missing(c))
		}
		found.add(s.name(), s.invalid(c))
	}
	for name, text := range c.invalidTogether() {
		found.add(name, text)
	}
	if list := found.list(); len(list) > 0 {
		return Config{}, list
	}
	c.APIBaseURL, c.DashboardBaseURL = strings.TrimSuffix(c.APIBaseURL, "/"), strings.TrimSuffix(c.DashboardBaseURL, "/")
	return c, nil
}

// mistakes holds the first mistake of each variable: a value that cannot be parsed is not also out of bounds.
type mistakes map[string]string

// add records a variable's first mistake; the text "" means that there is none.
func (m mistakes) add(name, text string) {
	if _, recorded := m[name]; !recorded && text != "" {
		m[name] = text
	}
}

func (m mistakes) list() Mistakes {
	var out Mistakes
	for _, s := range settings(Config{}) {
		if text, wrong := m[s.name()]; wrong {
			out = append(out, s.name()+": "+text)
		}
	}
	return out
}

// parse fills c from the environment variables. It describes mistakes itself, since the library's errors may
// contain a secret.
func parse(c *Config, set map[string]string) mistakes {
	found := mistakes{}
	err := env.ParseWithOptions(c, env.Options{Environment: set})
	var all env.AggregateError
	if !errors.As(err, &all) {
		return found
	}
	for _, e := range all.Errors {
		var unreadable env.ParseError
		if !errors.As(e, &unreadable) {
			panic("config: " + e.Error()) // A panic here is a mistake in the declaration of Config.
		}
		field, _ := reflect.TypeFor[Config]().FieldByName(unreadable.Name)
		name := field.Tag.Get("env")
		found[name] = fmt.Sprintf("%q %s", set[name], expected(field.Type))
	}
	return found
}

func expected(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[time.Duration]():
		return "is not a duration such as 10s, 30m or 336h"
	case reflect.TypeFor[DurationList]():
		return "is not a list of durations such as 0s,5s,5m"
	case reflect.TypeFor[slog.Level]():
		return "is not debug, info, warn or error"
	case reflect.TypeFor[[]uint16]():
		return "is not a list of ports such as 22,25"
	case reflect.TypeFor[bool]():
		return "is not true or false"
	}
	return "is not a whole number"
}

type DurationList webhook.RetrySchedule

// UnmarshalText parses a list of durations such as "0s,5s,5m".
func (s *DurationList) UnmarshalText(text []byte) error {
	parsed := DurationList{}
	for part := range strings.SplitSeq(string(text), ",") {
		d, err := time.ParseDuration(strings.TrimSpace(part))
		if err != nil {
			return err
		}
		parsed = append(parsed, d)
	}
	*s = parsed
	return nil
}
