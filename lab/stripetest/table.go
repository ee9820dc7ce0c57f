package stripetest

import (
	"math"
	"slices"
)

// table stores the fake's objects of one kind in order of creation.
type table[T object] struct {
	all  []T
	byID map[string]T
}

// object is an object of Stripe's API.
type object interface {
	head() base
	json(f *Fake, expand expansions) map[string]any
}

type base struct {
	id      string
	created int64
}

func (b base) head() base { return b }

// base returns id and creation time of a new object, with an id prefix such as "pi".
func (f *Fake) base(prefix string) base { return base{f.newID(prefix), f.now().Unix()} }

func (t *table[T]) add(item T) {
	if t.byID == nil {
		t.byID = map[string]T{}
	}
	t.all = append(t.all, item)
	t.byID[item.head().id] = item
}

func (t *table[T]) find(id string) (item T, err *apiError) {
	item, there := t.byID[id]
	if !there {
		return item, missing(id)
	}
	return item, nil
}

// list returns an endpoint for the GET of a list, newest first. intentOf serves the parameter payment_intent; nil:
// none.
func list[T object](f *Fake, t *table[T], intentOf func(T) *intent) endpoint {
	return func(c call) (any, *apiError) {
		numbers := map[string]int{"limit": 10, "created[gte]": 0, "created[lt]": math.MaxInt}
		for name, usual := range numbers {
			given, err := whole(c.Params, name, usual)
			if err != nil {
				return nil, err
			}
			numbers[name] = given
		}
		after, wanted := c.Params.Get("starting_after"), c.Params.Get("payment_intent")
		passed := after == ""
		data, more := []any{}, false
		expand, _ := expansionsOf(c.Params).of("data")
		for _, item := range slices.Backward(t.all) {
			id, created := item.head().id, int(item.head().created)
			switch {
			case !passed:
				passed = id == after
			case created < numbers["created[gte]"] || created >= numbers["created[lt]"],
				wanted != "" && intentOf(item).id != wanted:
			case len(data) == numbers["limit"]:
				more = true
			default:
				data = append(data, item.json(f, expand))
			}
		}
		return map[string]any{"object": "list", "data": data, "has_more": more}, nil
	}
}
