package stripetest

import (
	"net/url"
	"strconv"
	"strings"
)

// expansions are the paths of Stripe's parameter expand[]: fields to return as whole objects instead of ids.
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

// of returns the expansions (fields to return as whole objects) inside a field. asked reports whether the field
// itself is expanded.
func (e expansions) of(field string) (inside expansions, asked bool) {
	for _, path := range e {
		if rest, ok := strings.CutPrefix(path+".", field+"."); ok {
			inside, asked = append(inside, strings.TrimSuffix(rest, ".")), true
		}
	}
	return inside, asked
}

// shown returns an object's JSON if its field is expanded, else its id; nil for no object.
func shown[T interface {
	comparable
	object
}](f *Fake, item T, field string, expand expansions) any {
	var none T
	if item == none {
		return nil
	}
	if inside, asked := expand.of(field); asked {
		return item.json(f, inside)
	}
	return item.head().id
}

// group returns the form parameters name[key]=value as a map.
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

// orNil returns nil for an empty text, as Stripe does.
func orNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}
