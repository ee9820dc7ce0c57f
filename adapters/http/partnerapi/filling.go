package partnerapi

import (
	"bytes"
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
	return jsonresponse.EncodeWithBuffer(func(b *bytes.Buffer) error {
		b.WriteString(`{"data":[`)
		if err := f.items(b, limit); err != nil {
			return err
		}
		fields, err := jsonresponse.Encode(tail())
		if err != nil {
			return err
		}
		b.WriteString("],")
		b.Write(fields[1:])
		return nil
	})
}

func (f *filling[T, V]) items(b *bytes.Buffer, limit int) error {
	begin, count := b.Len(), 0
	defer func() { f.sizes.saw(f.key, b.Len()-begin, count) }()
	for portion, more := f.sizes.rows(f.key), true; more && count < limit; portion *= 2 {
		items, goesOn, err := f.read(min(portion, limit-count))
		if err != nil {
			return err
		}
		for _, item := range items {
			whole := b.Len()
			if count > 0 {
				b.WriteByte(',')
			}
			v := f.view(item)
			if err := jsonresponse.AppendEncoded(b, &v); err != nil {
				return err
			}
			if f.cut = count > 0 && b.Len()-begin > pageBytes; f.cut {
				b.Truncate(whole)
				return nil
			}
			f.last = item
			count++
		}
		more = goesOn
	}
	return nil
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
