package partners

import (
	"strings"
	"unicode/utf8"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/mailaddr"
	"partnerdeposits/core/oneline"
	"partnerdeposits/core/partner"
	"partnerdeposits/core/returnurl"
)

// MaxNameLength is the longest name of a partner or API key, in characters.
const MaxNameLength = 120

func validContact(email string) error {
	if email != "" && !mailaddr.Valid(email) {
		return fault.ErrInvalidField.WithField("contact-email", "is not an e-mail address")
	}
	return nil
}

// validOrigins checks URLs to which operators may be sent back, and returns their origins.
func validOrigins(urls []string, env partner.Environment) ([]string, error) {
	origins := make([]string, 0, len(urls))
	for _, raw := range urls {
		u, err := returnurl.Parse(raw, env != partner.EnvironmentProduction)
		if err != nil {
			return nil, fault.ErrInvalidField.WithField("return-origin", "%s", err.Error())
		}
		origins = append(origins, returnurl.Origin(u))
	}
	return origins, nil
}

func validName(name string) error {
	if strings.TrimSpace(name) == "" || utf8.RuneCountInString(name) > MaxNameLength || !oneline.Valid(name) {
		return fault.ErrInvalidField.WithField("name",
			"needs 1 to %d characters, none of them a control or direction character", MaxNameLength)
	}
	return nil
}
