package stripetest

// table keeps objects in the order of their creation.
type table[T object] struct {
	all  []T
	byID map[string]T
}

// object is a thing with an id and a time of creation, which can be shown as JSON.
type object interface {
	head() base
	json(f *Fake, expand expansions) map[string]any
}

// base are the id of an object and the time of its creation.
type base struct {
	id      string
	created int64
}

func (b base) head() base { return b }

// base makes an id with that prefix, such as "pi".
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

const (
	usualPage = 10
	maxPage   = 100
)

// list answers a list request with the objects that keep takes, newest first.
func list[T object](f *Fake, t *table[T], c call, keep func(T) bool) (any, *apiError) {
	numbers := map[string]int{"limit": usualPage, "created[gte]": 0, "created[lt]": 1 << 60}
	for name, usual := range numbers {
		given, err := whole(c.params, name, usual)
		if err != nil {
			return nil, err
		}
		numbers[name] = given
	}
	limit, since, before := numbers["limit"], numbers["created[gte]"], numbers["created[lt]"]
	if limit < 1 || limit > maxPage {
		return nil, invalid("limit", "limit must be between 1 and 100")
	}
	after := c.params.Get("starting_after")
	if _, there := t.byID[after]; after != "" && !there {
		return nil, missing(after)
	}
	passed := after == ""
	data := []any{}
	more := false
	expand, _ := expansionsOf(c.params).of("data")
	for i := len(t.all) - 1; i >= 0; i-- {
		item := t.all[i]
		if !passed {
			passed = item.head().id == after
			continue
		}
		if created := item.head().created; created < int64(since) || created >= int64(before) || !keep(item) {
			continue
		}
		if len(data) == limit {
			more = true
			break
		}
		data = append(data, item.json(f, expand))
	}
	return map[string]any{"object": "list", "data": data, "has_more": more, "url": c.path}, nil
}
