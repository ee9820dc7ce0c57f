// Package tenant holds the rules about a tenant, the person at checkout, whose record the API calls a client
// (service.md, "Client").
package tenant

import (
	"regexp"
	"strings"
	"time"
	"unicode/utf8"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	"partnerdeposits/core/mailaddr"
	"partnerdeposits/core/oneline"
)

// ErrNotFound is the fault for a client that is unknown or that the caller may not see.
var ErrNotFound = fault.New(fault.NotFound, "client_not_found", "There is no such client.")

// MaxNameLength is the largest length of a tenant's first or last name in characters.
const MaxNameLength = 100

// Client is the record of a tenant at an account. Erasing it removes the personal data and keeps the id.
type Client struct {
	ID        id.ID
	AccountID id.ID
	// The partner that created the record, or the deposit at whose checkout it was created; zero: the dashboard did.
	PartnerID id.ID
	Person
	CreatedAt time.Time
	ChangedAt time.Time // When the tenant's data last changed; zero: never since the record was created.
	ErasedAt  time.Time // When the tenant's data was erased; zero: not erased.
}

// Erased reports whether the tenant's personal data was erased.
func (c Client) Erased() bool { return !c.ErasedAt.IsZero() }

// MailAddress holds what a mail to a tenant needs: the e-mail address and the language.
type MailAddress struct {
	Email  string `json:"email"`
	Locale string `json:"locale"`
}

// Person is the personal data of a tenant.
type Person struct {
	Email     string
	FirstName string
	LastName  string
	Phone     string // A telephone number in E.164 form, or "".
	Locale    string // The tenant's language, with or without a country: "fr", "en-GB" or "".
}

// PersonChange holds new values for a tenant's data; nil keeps a field unchanged, and "" clears an optional one.
type PersonChange struct{ Email, FirstName, LastName, Phone, Locale *string }

// Validate checks the new values of a tenant's data. Returns the errors of Person.Validate.
func (c PersonChange) Validate() error {
	// The other person is valid, so every error found is in a new value.
	return c.Apply(Person{Email: "a@b.example", FirstName: "A", LastName: "B"}).Validate()
}

// Apply returns the personal data p with the new values.
func (c PersonChange) Apply(p Person) Person {
	for _, field := range c.fields(&p) {
		if field.to != nil {
			*field.of = *field.to
		}
	}
	return p
}

// ChangedFields returns the names of the fields that the change would alter.
func (c PersonChange) ChangedFields(p Person) (names []string) {
	for _, field := range c.fields(&p) {
		if field.to != nil && *field.of != *field.to {
			names = append(names, field.name)
		}
	}
	return names
}

type changedField struct {
	name   string
	of, to *string
}

func (c PersonChange) fields(p *Person) []changedField {
	return []changedField{
		{"email", &p.Email, c.Email}, {"firstName", &p.FirstName, c.FirstName}, {"lastName", &p.LastName, c.LastName},
		{"phone", &p.Phone, c.Phone}, {"locale", &p.Locale, c.Locale},
	}
}

var (
	phonePattern  = regexp.MustCompile(`^\+[1-9][0-9]{6,14}$`)
	localePattern = regexp.MustCompile(`^[a-z]{2}(-[A-Z]{2})?$`)
)

// Validate checks every field of a tenant's data. Returns missing_field or invalid_field, with the field's name.
func (p Person) Validate() error {
	if err := validEmail("email", p.Email); err != nil {
		return err
	}
	if p.Phone != "" && !phonePattern.MatchString(p.Phone) {
		return fault.ErrInvalidField.WithField("phone", "must be in E.164 form, like +33612345678")
	}
	if !ValidLocale(p.Locale) {
		return fault.ErrInvalidField.WithField("locale", "must look like fr or en-GB")
	}
	if err := validName("firstName", p.FirstName); err != nil {
		return err
	}
	return validName("lastName", p.LastName)
}

// FieldMistake is a fault of a single field of a tenant's personal data.
type FieldMistake struct {
	Field string
	Fault *fault.Error // The fault of the mistaken field: missing_field or invalid_field.
}

// Mistakes returns every mistake in firstName, lastName and email, which checkout requests.
func (p Person) Mistakes() []FieldMistake {
	var found []FieldMistake
	for _, checked := range []struct {
		field string
		err   error
	}{
		{"firstName", validName("firstName", p.FirstName)},
		{"lastName", validName("lastName", p.LastName)},
		{"email", validEmail("email", p.Email)},
	} {
		if checked.err != nil {
			found = append(found, FieldMistake{checked.field, fault.FromError(checked.err)})
		}
	}
	return found
}

// MailContact is an address that gets mails for a tenant, with its language.
type MailContact struct {
	Email  string
	Locale string
}

// Validate checks a contact. prefix precedes the names of the fields in messages. Returns missing_field or
// invalid_field.
func (c MailContact) Validate(prefix string) error {
	if err := validEmail(prefix+"email", c.Email); err != nil {
		return err
	}
	if !ValidLocale(c.Locale) {
		return fault.ErrInvalidField.WithField(prefix+"locale", "must look like fr or en-GB")
	}
	return nil
}

func validEmail(field, s string) error {
	if s == "" {
		return fault.ErrMissingField.WithField(field, "is required")
	}
	if !mailaddr.Valid(s) {
		return fault.ErrInvalidField.WithField(field, "is not an e-mail address")
	}
	return nil
}

// ValidLocale reports whether a text is "" or a language with or without a country, such as fr or en-GB.
func ValidLocale(s string) bool { return s == "" || localePattern.MatchString(s) }

func validName(field, s string) error {
	if strings.TrimSpace(s) == "" {
		return fault.ErrMissingField.WithField(field, "is required")
	}
	if utf8.RuneCountInString(s) > MaxNameLength {
		return fault.ErrInvalidField.WithField(field, "is longer than %d characters", MaxNameLength)
	}
	if !oneline.Valid(s) {
		return fault.ErrInvalidField.WithField(field, "has control or direction characters")
	}
	return nil
}
