package redis

import (
	"testing"

	"github.com/stretchr/testify/require"
)

func TestParseURL(t *testing.T) {
	t.Parallel()
	type want struct {
		addrs                []string
		user, password, name string
		db                   int
		tls                  bool
	}
	cases := map[string]want{
		"redis://localhost":                       {addrs: []string{"localhost:6379"}},
		"redis://localhost:6380/3":                {addrs: []string{"localhost:6380"}, db: 3},
		"redis://:p%40ss@h:1/":                    {addrs: []string{"h:1"}, password: "p@ss"},
		"rediss://u:p@h":                          {addrs: []string{"h:6379"}, user: "u", password: "p", tls: true},
		"redis://[::1]:7":                         {addrs: []string{"[::1]:7"}},
		"redis://u:p@a:1,b:2,c":                   {addrs: []string{"a:1", "b:2", "c:6379"}, user: "u", password: "p"},
		"redis://a:1,redis://b:2":                 {addrs: []string{"a:1", "b:2"}},
		"a:1,b":                                   {addrs: []string{"a:1", "b:6379"}},
		"redis-sentinel://:p@a,b:5/2?master=main": {addrs: []string{"a:26379", "b:5"}, password: "p", db: 2, name: "main"},
		"redis-sentinel://a/?master=main":         {addrs: []string{"a:26379"}, name: "main"},
		"rediss-sentinel://a,b?master=main":       {addrs: []string{"a:26379", "b:26379"}, name: "main", tls: true},
	}
	for raw, w := range cases {
		o, err := parseURL(raw)
		require.NoError(t, err, raw)
		require.Equal(t, w, want{o.Addrs, o.Username, o.Password, o.MasterName, o.DB, o.TLSConfig != nil}, raw)
	}
	for _, raw := range []string{"", "localhost:6379", "http://h", "redis://", "redis://h/x", "redis://h/-1",
		"redis://a,b/1", "redis://a,,b", "redis-sentinel://a", "redis://h:port", "redis://%zz@h"} {
		_, err := parseURL(raw)
		require.ErrorIs(t, err, ErrInvalidURL, raw)
	}
}
