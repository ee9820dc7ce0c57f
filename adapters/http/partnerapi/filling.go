package partnerapi

import (
	"slices"
	"sync"

	"partnerdeposits/adapters/http/middleware/jsonresponse"
	"partnerdeposits/core/id"
)

const (
	// Largest size in bytes of the encoded items on a list page; one item always fits.
	pageBytes = 256_000
	// Rows to read first for a list page whose item size is not known yet.
	firstRows = 25
)

// filling reads and encodes items until the page has its number, is full in bytes, or the list ends. It reads
// portions that are likely to fit: a page of large items would otherwise read many rows too many.
type filling[T, V any] struct {
	sizes *sizes
	key   sizeKey
	// read returns at most the given number of next items, and whether more may follow.
	read func(most int) (items []T, more bool, err error)
	view func(T) V

	last T
	// Whether the page was full in bytes, so that more items follow.
	cut bool
}

// encode returns the JSON of a list page: the items as data, and the fields of tail, which is called at the end.
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

// sizes remembers the item size of each partner's lists, to estimate a page's rows.
type sizes struct {
	mu    sync.Mutex
	bytes map[sizeKey]int // Recent size of an item in bytes, by list and partner.
}

type sizeKey struct {
	partner id.ID
	list    list
}

// rows returns how many rows to read first for a page of a list.
func (s *sizes) rows(key sizeKey) int {
	s.mu.Lock()
	defer s.mu.Unlock()
	if known := s.bytes[key]; known > 0 {
		return pageBytes/known + 1
	}
	return firstRows
}

// saw records the size of a page's items. Large sizes decay slowly, so that a page of small items does not hide
// them.
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
