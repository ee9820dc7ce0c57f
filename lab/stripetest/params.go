package stripetest

import (
	"net/url"
	"slices"
	"strconv"
	"strings"
)

// expansions are the paths of the parameter expand[].
type expansions []string

func expansionsOf(params url.Values) expansions {
	var out expansions
	for name, values := range params {
		if name == "expand" || strings.HasPrefix(name, "expand[") {
			out = append(out, values...)
		}
	}
	return out
}

// has reports whether the field is asked for.
func (e expansions) has(field string) bool {
	return slices.ContainsFunc(e, func(path string) bool { return path == field || strings.HasPrefix(path, field+".") })
}

// below gives the expansions inside a field.
func (e expansions) below(field string) expansions {
	var out expansions
	for _, path := range e {
		if rest, ok := strings.CutPrefix(path, field+"."); ok {
			out = append(out, rest)
		}
	}
	return out
}

// shown gives the id of an object, or the object where it is asked for.
func shown(f *Fake, item object, field string, expand expansions) any {
	if expand.has(field) {
		return item.json(f, expand.below(field))
	}
	return item.ident()
}

// group reads the pairs name[key]=value.
func group(params url.Values, name string) map[string]string {
	out := map[string]string{}
	for param, values := range params {
		if key, ok := strings.CutPrefix(param, name+"["); ok && strings.HasSuffix(key, "]") && len(values) == 1 {
			out[strings.TrimSuffix(key, "]")] = values[0]
		}
	}
	return out
}

func whole(params url.Values, name string, usual int) (int, *apiError) {
	text := params.Get(name)
	if text == "" {
		return usual, nil
	}
	n, err := strconv.Atoi(text)
	if err != nil {
		return 0, invalid(name, "Invalid integer: "+text)
	}
	return n, nil
}

// only refuses parameters that an endpoint does not know. A name that ends in [ allows everything below.
func only(params url.Values, names ...string) *apiError {
	for param := range params {
		known := slices.ContainsFunc(names, func(name string) bool {
			return param == name || (strings.HasSuffix(name, "[") && strings.HasPrefix(param, name))
		})
		if !known && param != "expand" && !strings.HasPrefix(param, "expand[") {
			return &apiError{status: 400, kind: "invalid_request_error", code: "parameter_unknown", param: param, message: "Received unknown parameter: " + param}
		}
	}
	return nil
}

// orNil gives nil for the empty text, as Stripe shows it.
func orNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}
