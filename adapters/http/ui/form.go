package ui

import (
	"strconv"
	"strings"

	"github.com/a-h/templ"
)

// Checked is the value of a ticked Checkbox.
const Checked = "yes"

// ID is the id of the input.
func (f Field) ID() string {
	if f.Form == "" {
		return f.Name
	}
	return f.Form + "-" + f.Name
}

func (f Field) attributes() templ.OrderedAttributes {
	attrs := templ.OrderedAttributes{}
	add := func(key string, value any) {
		attrs = append(attrs, templ.KeyValue[string, any]{Key: key, Value: value})
	}
	add("type", f.Type)
	if f.Type != "password" { // a page never contains a password
		add("value", f.Value)
	}
	if f.Type == "email" || f.Type == "password" {
		add("spellcheck", "false")
		add("autocapitalize", "none")
	}
	add("readonly", f.ReadOnly)
	return append(attrs, f.shared()...)
}

// shared are the attributes of every kind of input.
func (f Field) shared() templ.OrderedAttributes {
	attrs := templ.OrderedAttributes{}
	add := func(key string, value any) {
		attrs = append(attrs, templ.KeyValue[string, any]{Key: key, Value: value})
	}
	add("id", f.ID())
	if f.Name != "" {
		add("name", f.Name)
	}
	if f.Autocomplete != "" {
		add("autocomplete", f.Autocomplete)
	}
	if f.Placeholder != "" {
		add("placeholder", f.Placeholder)
	}
	if f.InputMode != "" {
		add("inputmode", f.InputMode)
	}
	if f.MaxLength > 0 {
		add("maxlength", strconv.Itoa(f.MaxLength))
	}
	if f.MinLength > 0 {
		add("minlength", strconv.Itoa(f.MinLength))
	}
	add("required", f.Required)
	add("autofocus", f.Autofocus)
	if by := f.describedBy(); by != "" {
		add("aria-describedby", by)
	}
	if f.Error != "" {
		add("aria-invalid", "true")
	}
	return attrs
}

func (f Field) describedBy() string {
	var ids []string
	if f.Error != "" {
		ids = append(ids, f.ID()+"-error")
	}
	if f.Hint != "" {
		ids = append(ids, f.ID()+"-hint")
	}
	return strings.Join(ids, " ")
}

// errorCode returns the attribute data-error-code, which tests and support read.
func errorCode(code string) templ.Attributes {
	if code == "" {
		return nil
	}
	return templ.Attributes{"data-error-code": code}
}
