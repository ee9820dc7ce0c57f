package tenant_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/tenant"
)

func TestPerson_Validate(t *testing.T) {
	good := tenant.Person{Email: "ana@example.com", FirstName: "Ana", LastName: "Días", Phone: "+33612345678", Locale: "fr-FR"}
	require.NoError(t, good.Validate())
	cases := []struct {
		name    string
		change  func(*tenant.Person)
		code    string
		message string
	}{
		{"no e-mail", func(p *tenant.Person) { p.Email = "" }, "missing_field", "email: is required"},
		{"no address", func(p *tenant.Person) { p.Email = "ana" }, "invalid_field", "email: is not an e-mail address"},
		{"blank first name", func(p *tenant.Person) { p.FirstName = " " }, "missing_field", "firstName: is required"},
		{"long last name", func(p *tenant.Person) { p.LastName = strings.Repeat("é", 101) }, "invalid_field", "lastName: is longer than 100 characters"},
		{"line break in a name", func(p *tenant.Person) { p.LastName = "a\nb" }, "invalid_field", "lastName: has control or direction characters"},
		{"turned direction in a name", func(p *tenant.Person) { p.FirstName = "a\u202eb" }, "invalid_field", "firstName: has control or direction characters"},
		{"national phone", func(p *tenant.Person) { p.Phone = "0612345678" }, "invalid_field", "phone: must be in E.164 form, like +33612345678"},
		{"long locale", func(p *tenant.Person) { p.Locale = "french" }, "invalid_field", "locale: must look like fr or en-GB"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := good
			c.change(&p)
			f := fault.Of(p.Validate())
			require.Equal(t, c.code, f.Code)
			require.Equal(t, c.message, f.Message)
		})
	}
	bare := tenant.Person{Email: "a@b.example", FirstName: strings.Repeat("é", 100), LastName: "O'Neil-Ng"}
	require.NoError(t, bare.Validate())
}
