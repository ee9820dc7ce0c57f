package partnerapi

import (
	"slices"
	"sync"

	"partnerdeposits/adapters/http/middleware/jsonresponse"
	"partnerdeposits/core/id"
)

const (
	// Largest size in bytes of the encoded items on a page of a list; one item always fits, however large.
	pageBytes = 256_000
	// Number of rows to read first for a page of a list whose average item size is not known yet.
	firstRows = 25
)

// filling reads and encodes the items of a page until the page has its number of items, is full in bytes, or the
// list ends. Rows are read in portions that are likely to fit: a page of large items would otherwise read many
// more rows than it shows.
type filling[T, V any] struct {
	sizes *sizes
	key   sizeKey
	// read returns the next items of the list from the database, at most the given number, and whether more may
	// follow.
	read func(most int) (items []T, more bool, err error)
	view func(T) V

	last T // The last item on the page of the list so far.
	// True if the page ended because it was full in bytes, so that more items follow; false otherwise.
	cut bool
}

// encode returns the JSON body of a page of a list: the items as data, and beside them the fields of the struct
// that tail returns. It calls tail at the end.
func (f *filling[T, V]) encode(limit int, tail func() any) ([]byte, error) {
	return jsonresponse.EncodeWithBuffer(func(b []byte) ([]byte, error) {
		b = append(b, `{"data":[`...)
		b, err := f.items(b, limit)
		if err != nil {
			return b, err
		}
		b = append(b, "],"...)
		brace := len(b)
		b, err = jsonresponse.AppendEncoded(b, tail())
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
			if b, err = jsonresponse.AppendEncoded(b, f.view(item)); err != nil {
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

// sizes remembers the recent size of the items of each partner's lists, to estimate how many rows a page needs.
type sizes struct {
	mu    sync.Mutex
	bytes map[sizeKey]int // Recent size of an item in bytes, for each list of each partner.
}

type sizeKey struct {
	partner id.ID
	list    list
}

// rows returns how many rows to read from the database first for a page of a list.
func (s *sizes) rows(key sizeKey) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.bytes[key]; known > 0 {
		return pageBytes/known + 1
	}
	return firstRows
}

// saw records the size of a page's items, as an estimate for later pages. Large sizes decay slowly, so that one
// page of small items does not hide them.
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
