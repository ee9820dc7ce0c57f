package config

import (
	"fmt"
	"reflect"
	"slices"
	"strconv"
	"strings"
	"time"

	"partnerdeposits/core/partner"
	"partnerdeposits/core/secret"
)

const (
	maxAttempts = 50
	maxWait     = 7 * 24 * time.Hour
)

const newKeyset = "; `admin secrets new-keyset` makes one"

// setting is a field of Config with its value: one environment variable.
type setting struct {
	field reflect.StructField
	value reflect.Value
}

func settings(c Config) []setting {
	var all []setting
	fields := reflect.TypeFor[Config]()
	values := reflect.ValueOf(c)
	for i := range fields.NumField() {
		all = append(all, setting{fields.Field(i), values.Field(i)})
	}
	return all
}

func (s setting) tag(key string) string { return s.field.Tag.Get(key) }

func (s setting) name() string { return s.tag("env") }

// texts returns the setting's values to be checked; none if the variable is not set.
func (s setting) texts() []string {
	switch v := s.value.Interface().(type) {
	case secret.Text:
		return []string{v.Reveal()}
	case []string:
		return v
	}
	if s.value.Kind() == reflect.String {
		return []string{s.value.String()}
	}
	return nil
}

// missing returns the mistake if the variable is required and not set, and "" otherwise.
func (s setting) missing(c Config) string {
	required := map[string]bool{
		"always":              true,
		"outside development": c.Environment == partner.EnvironmentStaging || c.Environment == partner.EnvironmentProduction,
		"in production":       c.Environment == partner.EnvironmentProduction,
	}
	with, found := strings.CutPrefix(s.tag("required"), "in production with ")
	providers := found && c.Environment == partner.EnvironmentProduction && slices.Contains(strings.Split(with, " or "),
		c.PaymentsProviderOrDefault())
	if !s.value.IsZero() || !required[s.tag("required")] && !providers {
		return ""
	}
	hint := newKeyset
	if example := s.tag("example"); example != "" {
		hint = ", such as " + example
	}
	if s.tag("required") == "always" {
		return "is required" + hint
	}
	return "is required " + s.tag("required") + hint
}

// invalid returns what is wrong with the setting's value by the tags of its field; "" if nothing is.
func (s setting) invalid(c Config) string {
	if form := s.tag("form"); form != "" {
		for _, text := range s.texts() {
			if text == "" {
				continue
			}
			if err := forms[form](text, s, c); err != nil {
				return err.Error()
			}
		}
	}
	switch v := s.value.Interface().(type) {
	case int:
		return outOfBounds(v, s.tag("min"), s.tag("max"))
	case time.Duration:
		if least := s.tag("min"); least != "" {
			return notBetween(v, least, s.tag("max"))
		}
		return outOfTime(v, s.tag("above"), s.tag("max"))
	}
	return ""
}

func outOfBounds(value int, least, most string) string {
	switch {
	case least == "":
		return ""
	case most == "":
		if value < bound(strconv.Atoi(least)) {
			return fmt.Sprintf("%d is not %s or more", value, least)
		}
	case value < bound(strconv.Atoi(least)) || value > bound(strconv.Atoi(most)):
		return fmt.Sprintf("%d is not between %s and %s", value, least, most)
	}
	return ""
}

func outOfTime(value time.Duration, above, most string) string {
	switch {
	case above == "":
		return ""
	case most == "":
		if value <= bound(time.ParseDuration(above)) {
			return fmt.Sprintf("%s is not above %s", value, above)
		}
	case value <= bound(time.ParseDuration(above)) || value > bound(time.ParseDuration(most)):
		return fmt.Sprintf("%s is not above %s and at most %s", value, above, bound(time.ParseDuration(most)))
	}
	return ""
}

func notBetween(value time.Duration, least, most string) string {
	if value < bound(time.ParseDuration(least)) || value > bound(time.ParseDuration(most)) {
		return fmt.Sprintf("%s is not between %s and %s", value, least, most)
	}
	return ""
}

// bound returns a bound from a tag of Config, and panics if the tag is malformed.
func bound[T any](value T, err error) T {
	if err != nil {
		panic("config: a tag of Config: " + err.Error())
	}
	return value
}

// invalidTogether checks the rules between settings that no tag can express.
func (c Config) invalidTogether() mistakes {
	found := mistakes{}
	if n := len(c.WebhookRetrySchedule); n < 1 || n > maxAttempts {
		found.add("WEBHOOK_RETRY_SCHEDULE", fmt.Sprintf("must have 1 to %d waits", maxAttempts))
	}
	for _, wait := range c.WebhookRetrySchedule {
		if wait < 0 || wait > maxWait {
			found.add("WEBHOOK_RETRY_SCHEDULE", fmt.Sprintf("%s is not between 0s and %s", wait, maxWait))
		}
	}
	found.add("COLLECTION_RETRY_SCHEDULE", c.CollectionSchedule().FindMistake())
	if c.SMTPURL != "" && c.MailFrom == "" {
		found.add("MAIL_FROM", "is required with SMTP_URL")
	}
	if c.WebhookAllowInsecureTargets && c.Environment == partner.EnvironmentProduction {
		found.add("WEBHOOK_ALLOW_INSECURE_TARGETS", "is for development and staging only")
	}
	c.paymentsTogether(found)
	return found
}
