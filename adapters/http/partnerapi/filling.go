package partnerapi

import (
	"slices"
	"sync"

	"partnerdeposits/adapters/http/middleware/jsonresponse"
	"partnerdeposits/core/id"
)

const (
	pageBytes = 256_000 // of the items of a page, encoded; one item always fits
	firstRows = 25      // that are read of a list whose items nobody has seen yet
)

// filling is a page that is read and encoded until it has its items, its bytes, or the end of the list. It reads in
// portions of what is likely to fit: a page of large items would read many times what it shows.
type filling[T, V any] struct {
	sizes *sizes
	key   sizeKey
	// read gives the next items, at most so many, and whether more may follow.
	read func(most int) (items []T, more bool, err error)
	view func(T) V

	last T    // item of the page
	cut  bool // the page ended by bytes: items follow last
}

// encode gives the body: the items as data, and beside it the fields of tail, which is called at the end.
func (f *filling[T, V]) encode(limit int, tail func() any) ([]byte, error) {
	return jsonresponse.Build(func(b []byte) ([]byte, error) {
		b = append(b, `{"data":[`...)
		b, err := f.items(b, limit)
		if err != nil {
			return b, err
		}
		b = append(b, "],"...)
		brace := len(b)
		b, err = jsonresponse.Append(b, tail())
		return slices.Delete(b, brace, brace+1), err
	})
}

func (f *filling[T, V]) items(b []byte, limit int) ([]byte, error) {
	begin, count := len(b), 0
	defer func() { f.sizes.saw(f.key, len(b)-begin, count) }()
	for portion, more := f.sizes.rows(f.key), true; more && count < limit; portion *= 2 {
		items, goesOn, err := f.read(min(portion, limit-count))
		if err != nil {
			return b, err
		}
		for _, item := range items {
			whole := len(b)
			if count > 0 {
				b = append(b, ',')
			}
			if b, err = jsonresponse.Append(b, f.view(item)); err != nil {
				return b, err
			}
			if f.cut = count > 0 && len(b)-begin > pageBytes; f.cut {
				b = b[:whole]
				return b, nil
			}
			f.last = item
			count++
		}
		more = goesOn
	}
	return b, nil
}

// sizes knows how large the items of lists were lately.
type sizes struct {
	mu    sync.Mutex
	bytes map[sizeKey]int // of an item
}

type sizeKey struct {
	partner id.ID
	list    list
}

// rows is how many rows to read for a page.
func (s *sizes) rows(key sizeKey) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.bytes[key]; known > 0 {
		return pageBytes/known + 1
	}
	return firstRows
}

// saw notes a page. Large items are forgotten slowly, so that a page of small ones does not hide them.
func (s *sizes) saw(key sizeKey, bytes, count int) {
	if count == 0 {
		return
	}
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.bytes == nil {
		s.bytes = map[sizeKey]int{}
	}
	known := s.bytes[key]
	s.bytes[key] = max(bytes/count, known-known/8, 1)
}
