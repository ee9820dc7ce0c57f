package connect

import (
	"errors"
	"net/http"
	"slices"

	"partnerdeposits/adapters/http/problem"
	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/twofactor"
)

// Names of the fields in the sign-up and log-in forms (pages.md, "Paths and fields").
const (
	fieldEmail    = "email"
	fieldPassword = "password"
	fieldCompany  = "companyName"
	fieldCode     = "code"
	fieldIntent   = "intent"
	intentLink    = "link"
)

// failure is the error that a form shows; field is "" if no input field is wrong.
type failure struct{ code, message, field string }

// formFaults maps the errors of the sign-up, log-in and code forms to their input fields; "" means no field.
var formFaults = map[*fault.Error]string{
	connect.ErrInvalidEmail:    fieldEmail,
	connect.ErrInvalidPassword: fieldPassword,
	connect.ErrInvalidCompany:  fieldCompany,
	connect.ErrEmailTaken:      fieldEmail,
	connect.ErrBadCredentials:  "",
	twofactor.ErrWrongCode:     fieldCode,
}

// aboutForm reports whether err can be corrected in the form; any other error gets an error page.
func aboutForm(err error) bool {
	for f := range formFaults {
		if errors.Is(err, f) {
			return true
		}
	}
	return false
}

// formFailure returns status and error of a refused form: 422 for wrong input, 409 for a taken e-mail address, 200
// without an error.
func formFailure(err error, lang ui.Lang) (status int, failed failure) {
	if err == nil {
		return http.StatusOK, failure{}
	}
	f := fault.FromError(err)
	failed = failure{code: f.Code, message: ui.ErrorTextOf(f.Code).Message.In(lang)}
	for about, field := range formFaults {
		if errors.Is(err, about) {
			failed.field = field
		}
	}
	if f.Kind == fault.Conflict {
		return problem.HTTPStatus(f.Kind), failed
	}
	return http.StatusUnprocessableEntity, failed
}

func registerFields(in input, failed failure, lang ui.Lang) []ui.Field {
	return withFailure([]ui.Field{
		{Name: fieldEmail, Type: "email", Label: textEmail.In(lang), Value: in.email, Autocomplete: "email", MaxLength: 254,
			Required: true},
		{Name: fieldPassword, Type: "password", Label: textPassword.In(lang), Hint: textPasswordHint.In(lang),
			Autocomplete: "new-password", MinLength: 10, MaxLength: 200, Required: true},
		{Name: fieldCompany, Type: "text", Label: textCompany.In(lang), Value: in.company, Autocomplete: "organization",
			MaxLength: 120, Required: true},
	}, failed)
}

func loginFields(in input, failed failure, lang ui.Lang) []ui.Field {
	return withFailure([]ui.Field{
		{Name: fieldEmail, Type: "email", Label: textEmail.In(lang), Value: in.email, Autocomplete: "username",
			MaxLength: 254, Required: true},
		{Name: fieldPassword, Type: "password", Label: textPassword.In(lang), Autocomplete: "current-password",
			MaxLength: 200, Required: true, Autofocus: failed.code == connect.ErrBadCredentials.Code},
	}, failed)
}

// withFailure returns the form's fields with the error message at the field it concerns.
func withFailure(fields []ui.Field, failed failure) []ui.Field {
	i := slices.IndexFunc(fields, func(f ui.Field) bool { return failed.field != "" && f.Name == failed.field })
	if i >= 0 {
		fields[i].Error = failed.message
	}
	return fields
}
