package returnurl_test

import (
	"strings"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/returnurl"
)

func TestParse(t *testing.T) {
	cases := []struct {
		raw   string
		local bool
		want  error
	}{
		{"https://pms.example/done?x=1", false, nil},
		{"http://localhost:3000/cb", true, nil},
		{"http://127.0.0.1/cb", true, nil},
		{"http://[::1]:8080/cb", true, nil},
		{"http://localhost:3000/cb", false, returnurl.ErrScheme},
		{"http://pms.example/cb", true, returnurl.ErrScheme},
		{"http://localhost.evil.example/", true, returnurl.ErrScheme},
		{"javascript:alert(1)", true, returnurl.ErrMalformed},
		{"//evil.example/", true, returnurl.ErrScheme},
		{"ftp://a.example/", true, returnurl.ErrScheme},
		{"https://user:pw@a.example/", true, returnurl.ErrUserInfo},
		{"https://@a.example/", true, returnurl.ErrUserInfo},
		{"https://a.example/#x", true, returnurl.ErrFragment},
		{"https://a.example/#", true, returnurl.ErrFragment},
		{"https://a.example\\@evil.example/", true, returnurl.ErrMalformed},
		{"https://a.example/\r\nSet-Cookie:x", true, returnurl.ErrMalformed},
		{"https://a.example/a b", true, returnurl.ErrMalformed},
		{"https:///path", true, returnurl.ErrMalformed},
		{"https://:443/", true, returnurl.ErrMalformed},
		{"http://127.0.0.2/", true, returnurl.ErrScheme},
		{"nonsense", true, returnurl.ErrMalformed},
		{"/relative", true, returnurl.ErrMalformed},
		{"", true, returnurl.ErrMalformed},
		{"https://a.example/" + strings.Repeat("a", 2030), true, nil},
		{"https://a.example/" + strings.Repeat("a", 2031), true, returnurl.ErrTooLong},
		{"https://a.example/\x7f", true, returnurl.ErrMalformed},
	}
	for _, c := range cases {
		_, err := returnurl.Parse(c.raw, c.local)
		require.ErrorIs(t, err, c.want, c.raw)
	}
}

func TestAppend_KeepsTheExistingQueryToTheByte(t *testing.T) {
	p := returnurl.QueryParam{Key: "depositStatus", Value: "a b&c"}
	require.Equal(t, "https://a.example/?depositStatus=a+b%26c",
		returnurl.AppendParams("https://a.example/", []returnurl.QueryParam{p}))
	require.Equal(t, "https://a.example/?z=%7E&a&depositStatus=a+b%26c",
		returnurl.AppendParams("https://a.example/?z=%7E&a", []returnurl.QueryParam{p}))
	require.Equal(t, "https://a.example/?depositStatus=a+b%26c",
		returnurl.AppendParams("https://a.example/?", []returnurl.QueryParam{p}))
	require.Equal(t, "https://a.example/?depositStatus=a+b%26c&depositStatus=a+b%26c",
		returnurl.AppendParams("https://a.example/", []returnurl.QueryParam{p, p}))
}

func TestAppend_RemovesParametersOfOurNames(t *testing.T) {
	ours := []returnurl.QueryParam{{Key: "connectStatus", Value: "linked"}, {Key: "returnSig", Value: "1"}}
	for raw, want := range map[string]string{
		"https://a.example/?connectStatus=error":                                "https://a.example/?",
		"https://a.example/?a=1&connectStatus=error&b=%7e":                      "https://a.example/?a=1&b=%7e&",
		"https://a.example/?returnSig&connectStatus=1&returnSig=x&z":            "https://a.example/?z&",
		"https://a.example/?connect%53tatus=error&connectError=x&%zz=1":         "https://a.example/?%zz=1&",
		"https://a.example/?connectstatus=1&x=connectStatus&connectStatus%20=1": "https://a.example/?connectstatus=1&x=connectStatus&connectStatus%20=1&",
		"https://a.example/connectStatus=1":                                     "https://a.example/connectStatus=1?",
	} {
		require.Equal(t, want+"connectStatus=linked&returnSig=1", returnurl.AppendParams(raw, ours, "connectError"), raw)
	}
}

func TestOrigin_IsLowerCase(t *testing.T) {
	u, err := returnurl.Parse("https://PMS.example:8443/x", false)
	require.NoError(t, err)
	require.Equal(t, "https://pms.example:8443", returnurl.Origin(u))
}
