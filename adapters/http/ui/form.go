package ui

import (
	"context"
	"strconv"
	"strings"

	"github.com/a-h/templ"
)

const CheckboxCheckedValue = "yes"

// ID returns an input's HTML id: the field's name, after the form's name if there is one.
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
	// A page never contains a password, so that field's value is left out.
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

// withFocus returns a context for rendering a page in which one field can take the focus.
func withFocus(ctx context.Context) context.Context {
	return context.WithValue(ctx, focusKey{}, new(bool))
}

// focused reports whether this field gets the focus: the page's first with a mistake or a wish for it.
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

func errorCode(code string) templ.Attributes {
	if code == "" {
		return nil
	}
	return templ.Attributes{"data-error-code": code}
}
