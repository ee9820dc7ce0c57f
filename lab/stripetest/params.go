package stripetest

import (
	"net/url"
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

// of gives the expansions inside a field. asked: the field itself is to be shown.
func (e expansions) of(field string) (inside expansions, asked bool) {
	for _, path := range e {
		if rest, ok := strings.CutPrefix(path+".", field+"."); ok {
			inside, asked = append(inside, strings.TrimSuffix(rest, ".")), true
		}
	}
	return inside, asked
}

// shown gives the id of an object, or the object where it is asked for; nil for none.
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

// orNil gives nil for the empty text, as Stripe shows it.
func orNil(text string) any {
	if text == "" {
		return nil
	}
	return text
}
