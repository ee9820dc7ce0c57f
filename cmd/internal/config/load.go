package config

import (
	"errors"
	"fmt"
	"log/slog"
	"reflect"
	"strings"
	"time"

	"github.com/caarlos0/env/v11"

	"partnerdeposits/core/partner"
	"partnerdeposits/core/webhook"
)

// Mistakes are all that is wrong with an environment, one variable a line, in the order of Config.
type Mistakes []string

// Error lists them.
func (m Mistakes) Error() string {
	return fmt.Sprintf("the configuration has %d %s:\n  - %s", len(m), plural("mistake", len(m)), strings.Join(m, "\n  - "))
}

func plural(noun string, n int) string {
	if n == 1 {
		return noun
	}
	return noun + "s"
}

// Load reads environ, which has the form of os.Environ.
//
// Returns Mistakes, complete; no value of a variable that may hold a secret is in it.
func Load(environ []string, needs Needs) (Config, error) {
	set := map[string]string{}
	for _, pair := range environ {
		if name, value, _ := strings.Cut(pair, "="); value != "" {
			set[name] = value
		}
	}
	c := Config{WebhookRetrySchedule: Schedule(webhook.DefaultSchedule)}
	found := parse(&c, set)
	if c.Environment == partner.Development {
		local := localBaseURL(c.HTTPAddr)
		c.APIBaseURL, c.DashboardBaseURL = orElse(c.APIBaseURL, local), orElse(c.DashboardBaseURL, local)
	}
	found.addAll(c.missing(needs))
	found.addAll(c.invalid())
	if list := found.list(); len(list) > 0 {
		return Config{}, list
	}
	c.APIBaseURL, c.DashboardBaseURL = strings.TrimSuffix(c.APIBaseURL, "/"), strings.TrimSuffix(c.DashboardBaseURL, "/")
	return c, nil
}

func orElse(s, otherwise string) string {
	if s == "" {
		return otherwise
	}
	return s
}

// mistakes holds the first mistake of each variable: a value that cannot be read is not also out of bounds.
type mistakes map[string]string

func (m mistakes) addAll(more mistakes) {
	for name, text := range more {
		if _, there := m[name]; !there {
			m[name] = text
		}
	}
}

func (m mistakes) list() Mistakes {
	var out Mistakes
	for _, name := range variables() {
		if text, there := m[name]; there {
			out = append(out, name+": "+text)
		}
	}
	return out
}

// variables lists the names of all variables in the order of Config.
func variables() []string {
	var names []string
	for field := range reflect.TypeFor[Config]().Fields() {
		names = append(names, field.Tag.Get("env"))
	}
	return names
}

// parse fills c and tells in our own words what could not be read.
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
			panic("config: " + e.Error()) // a mistake in Config itself
		}
		field, _ := reflect.TypeFor[Config]().FieldByName(unreadable.Name)
		name := field.Tag.Get("env")
		found[name] = fmt.Sprintf("%q %s", set[name], shape(field.Type))
	}
	return found
}

func shape(t reflect.Type) string {
	switch t {
	case reflect.TypeFor[time.Duration]():
		return "is not a duration such as 10s, 30m or 336h"
	case reflect.TypeFor[Schedule]():
		return "is not a list of durations such as 0s,5s,5m"
	case reflect.TypeFor[slog.Level]():
		return "is not debug, info, warn or error"
	case reflect.TypeFor[bool]():
		return "is not true or false"
	}
	return "is not a whole number"
}

func (c Config) missing(needs Needs) mistakes {
	values := map[string]string{
		"DATABASE_URL": c.DatabaseURL.Reveal(), "REDIS_URL": c.RedisURL.Reveal(), "SECRETS_KEYSET": c.SecretsKeyset.Reveal(),
		"API_BASE_URL": c.APIBaseURL, "DASHBOARD_BASE_URL": c.DashboardBaseURL,
	}
	how := map[string]string{
		"DATABASE_URL":       "is required, such as postgres://user:password@host:5432/database",
		"REDIS_URL":          "is required, such as redis://host:6379/0",
		"SECRETS_KEYSET":     "is required outside development; `admin secrets new-keyset` makes one",
		"API_BASE_URL":       "is required outside development, such as https://api.example.com",
		"DASHBOARD_BASE_URL": "is required outside development, such as https://app.example.com",
	}
	found := mistakes{}
	outside := c.Environment == partner.Staging || c.Environment == partner.Production
	for _, name := range needs {
		store := name == "DATABASE_URL" || name == "REDIS_URL"
		if values[name] == "" && (store || outside) {
			found[name] = how[name]
		}
	}
	return found
}

// Schedule reads a comma list of durations.
type Schedule webhook.Schedule

// UnmarshalText reads "0s,5s,5m".
func (s *Schedule) UnmarshalText(text []byte) error {
	parsed := Schedule{}
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
