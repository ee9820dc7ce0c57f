package tenant_test

import (
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/fault"
	"partnerdeposits/core/tenant"
)

func TestPerson_Validate(t *testing.T) {
	good := tenant.Person{Email: "ana@example.com", FirstName: "Ana", LastName: "Días", Phone: "+33612345678",
		Locale: "fr-FR"}
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
		{"long last name", func(p *tenant.Person) { p.LastName = strings.Repeat("é", 101) }, "invalid_field",
			"lastName: is longer than 100 characters"},
		{"line break in a name", func(p *tenant.Person) { p.LastName = "a\nb" }, "invalid_field",
			"lastName: has control or direction characters"},
		{"turned direction in a name", func(p *tenant.Person) { p.FirstName = "a\u202eb" }, "invalid_field",
			"firstName: has control or direction characters"},
		{"national phone", func(p *tenant.Person) { p.Phone = "0612345678" }, "invalid_field",
			"phone: must be in E.164 form, like +33612345678"},
		{"long locale", func(p *tenant.Person) { p.Locale = "french" }, "invalid_field",
			"locale: must look like fr or en-GB"},
	}
	for _, c := range cases {
		t.Run(c.name, func(t *testing.T) {
			p := good
			c.change(&p)
			f := fault.FromError(p.Validate())
			require.Equal(t, c.code, f.Code)
			require.Equal(t, c.message, f.Message)
		})
	}
	bare := tenant.Person{Email: "a@b.example", FirstName: strings.Repeat("é", 100), LastName: "O'Neil-Ng"}
	require.NoError(t, bare.Validate())
}

func text(s string) *string { return &s }

func TestChange_AppliesAndNamesTheFieldsThatDiffer(t *testing.T) {
	ana := tenant.Person{Email: "ana@example.com", FirstName: "Ana", LastName: "Días", Phone: "+33612345678", Locale: "fr"}
	for name, c := range map[string]struct {
		change tenant.PersonChange
		fields []string
		want   tenant.Person
	}{
		"nothing":         {tenant.PersonChange{}, nil, ana},
		"the same values": {tenant.PersonChange{Email: text("ana@example.com"), Phone: text("+33612345678")}, nil, ana},
		"a name": {tenant.PersonChange{FirstName: text("Anna"), LastName: text("Días")}, []string{"firstName"},
			tenant.Person{Email: ana.Email, FirstName: "Anna", LastName: "Días", Phone: ana.Phone, Locale: "fr"}},
		"clearing": {tenant.PersonChange{Phone: text(""), Locale: text("")}, []string{"phone", "locale"},
			tenant.Person{Email: ana.Email, FirstName: "Ana", LastName: "Días"}},
		"everything": {
			tenant.PersonChange{Email: text("b@c.example"), FirstName: text("B"), LastName: text("C"),
				Phone:  text("+33699999999"),
				Locale: text("en")}, []string{"email", "firstName", "lastName", "phone", "locale"},
			tenant.Person{Email: "b@c.example", FirstName: "B", LastName: "C", Phone: "+33699999999", Locale: "en"}},
		"letters of e-mail": {tenant.PersonChange{Email: text("Ana@example.com")}, []string{"email"},
			tenant.Person{Email: "Ana@example.com", FirstName: "Ana", LastName: "Días", Phone: ana.Phone, Locale: "fr"}},
	} {
		t.Run(name, func(t *testing.T) {
			require.Equal(t, c.fields, c.change.ChangedFields(ana))
			require.Equal(t, c.want, c.change.Apply(ana))
			require.NoError(t, c.change.Validate())
		})
	}
}

func TestChange_Validate_NamesTheField(t *testing.T) {
	for message, change := range map[string]tenant.PersonChange{
		"email: is required":                              {Email: text("")},
		"email: is not an e-mail address":                 {Email: text("ana")},
		"firstName: is required":                          {FirstName: text(" ")},
		"lastName: is required":                           {LastName: text("")},
		"phone: must be in E.164 form, like +33612345678": {Phone: text("06")},
		"locale: must look like fr or en-GB":              {Locale: text("french")},
	} {
		require.Equal(t, message, fault.FromError(change.Validate()).Message)
	}
}

func TestMistakes_OfTheFormAtCheckout_AreAllListed(t *testing.T) {
	require.Empty(t, tenant.Person{Email: "ana@example.com", FirstName: "Ana", LastName: "Días"}.Mistakes())
	var found []string
	for _, m := range (tenant.Person{Email: "ana", LastName: "a\nb"}).Mistakes() {
		found = append(found, m.Field+" "+m.Fault.Code)
	}
	require.Equal(t, []string{"firstName missing_field", "lastName invalid_field", "email invalid_field"}, found)
}

func TestContact_Validate(t *testing.T) {
	for message, c := range map[string]tenant.MailContact{
		"": {Email: "ana@example.com", Locale: "en-GB"}, "recipients[2].email: is required": {},
		"recipients[2].email: is not an e-mail address":    {Email: "x", Locale: "french"},
		"recipients[2].locale: must look like fr or en-GB": {Email: "ana@example.com", Locale: "french"},
	} {
		err := c.Validate("recipients[2].")
		if message == "" {
			require.NoError(t, err)
			continue
		}
		require.Equal(t, message, fault.FromError(err).Message)
	}
}

func TestErased_TellsWhetherThePersonIsGone(t *testing.T) {
	require.False(t, tenant.Client{}.Erased())
	require.True(t, tenant.Client{ErasedAt: time.Unix(1, 0)}.Erased())
}
