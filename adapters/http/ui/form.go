package ui

import (
	"context"
	"strconv"
	"strings"

	"github.com/a-h/templ"
)

// CheckboxCheckedValue is the form value of a ticked Checkbox.
const CheckboxCheckedValue = "yes"

// ID returns the HTML id of the input: the field's name, with the form's name in front if there is one.
func (f Field) ID() string {
	if f.Form == "" {
		return f.Name
	}
	return f.Form + "-" + f.Name
}

func (f Field) attributes(ctx context.Context) templ.OrderedAttributes {
	attrs := templ.OrderedAttributes{}
	add := func(key string, value any) {
		attrs = append(attrs, templ.KeyValue[string, any]{Key: key, Value: value})
	}
	add("type", f.Type)
	// A page never contains a password, so the value of a password field is left out.
	if f.Type != "password" {
		add("value", f.Value)
	}
	if f.Type == "email" || f.Type == "password" {
		add("spellcheck", "false")
		add("autocapitalize", "none")
	}
	add("readonly", f.ReadOnly)
	return append(attrs, f.shared(ctx)...)
}

// shared returns the HTML attributes that every kind of input has.
func (f Field) shared(ctx context.Context) templ.OrderedAttributes {
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
	add("autofocus", f.focused(ctx))
	if by := f.describedBy(); by != "" {
		add("aria-describedby", by)
	}
	if f.Error != "" {
		add("aria-invalid", "true")
	}
	return attrs
}

type focusKey struct{}

// withFocus returns a context for rendering one page, in which only one field can take the focus.
func withFocus(ctx context.Context) context.Context {
	return context.WithValue(ctx, focusKey{}, new(bool))
}

// focused reports whether the browser puts the focus into this field: true for the first field on the page that
// has a mistake or asks for the focus.
func (f Field) focused(ctx context.Context) bool {
	if !f.Autofocus && f.Error == "" {
		return false
	}
	taken, ok := ctx.Value(focusKey{}).(*bool)
	if !ok {
		return true
	}
	first := !*taken
	*taken = true
	return first
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

// errorCode returns the HTML attribute data-error-code, which tests and support staff read.
func errorCode(code string) templ.Attributes {
	if code == "" {
		return nil
	}
	return templ.Attributes{"data-error-code": code}
}
