package formbrowser_test

import (
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/formbrowser"
)

const page = `<form method="post" action="/pay"><input type="hidden" name="token" value="t1"><input name="firstName" value="Ada">
<textarea name="comment">kept</textarea><input type="checkbox" name="agree" value="yes"><input type="checkbox" name="news" value="on" checked>
<select name="lang"><option value="en">English</option><option value="fr" selected>Français</option></select><button name="intent" value="pay">Pay</button></form>
<form method="post" action="/files" enctype="multipart/form-data"><input type="hidden" name="token" value="t2">
<input name="comment" value="a"><input type="file" name="photos"></form>
<form method="post" action="pay?x=1"><input type="hidden" name="intent" value="abandon"></form>`

// site answers forms with their fields, and sets a cookie that it wants back.
func site(t *testing.T) *httptest.Server {
	t.Helper()
	mux := http.NewServeMux()
	mux.HandleFunc("GET /form", func(w http.ResponseWriter, _ *http.Request) {
		http.SetCookie(w, &http.Cookie{Name: "c", Value: "1", Path: "/"})
		_, _ = fmt.Fprint(w, page)
	})
	mux.HandleFunc("POST /pay", func(w http.ResponseWriter, r *http.Request) {
		_ = r.ParseForm()
		cookie, _ := r.Cookie("c")
		http.Redirect(w, r, "/done?"+r.PostForm.Encode()+"&cookie="+cookie.Value, http.StatusSeeOther)
	})
	mux.HandleFunc("POST /files", func(w http.ResponseWriter, r *http.Request) {
		for parts, _ := r.MultipartReader(); parts != nil; {
			part, err := parts.NextPart()
			if err != nil {
				return
			}
			value, _ := io.ReadAll(part)
			_, _ = fmt.Fprintf(w, "%s=%s %q;", part.FormName(), value, part.Header.Get("Content-Type"))
		}
	})
	mux.HandleFunc("GET /done", func(w http.ResponseWriter, r *http.Request) { _, _ = fmt.Fprint(w, r.URL.RawQuery) })
	server := httptest.NewServer(mux)
	t.Cleanup(server.Close)
	return server
}

func TestBrowser_SendsAFormAsItStands_WithTheChangedFields(t *testing.T) {
	t.Parallel()
	b := formbrowser.New(10*time.Second, nil)
	p, err := b.Get(t.Context(), site(t).URL+"/form")
	require.NoError(t, err)
	require.Len(t, p.Forms, 3)
	done, err := b.Submit(t.Context(), p, "agree", map[string]string{"agree": "yes", "firstName": "Grace"})
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, done.Status)
	require.Equal(t, "agree=yes&comment=kept&firstName=Grace&lang=fr&news=on&token=t1&cookie=1", string(done.Body))
}

func TestBrowser_SendsAFormThatTakesFiles_InParts_InTheOrderOfItsFields(t *testing.T) {
	t.Parallel()
	b := formbrowser.New(10*time.Second, nil)
	p, err := b.Get(t.Context(), site(t).URL+"/form")
	require.NoError(t, err)
	done, err := b.Submit(t.Context(), p, "photos", map[string]string{"comment": "b"})
	require.NoError(t, err)
	require.Equal(t, `token=t2 "";comment=b "";photos= "application/octet-stream";`, string(done.Body))
}

func TestBrowser_APageWithoutTheForm_IsAnError(t *testing.T) {
	t.Parallel()
	b := formbrowser.New(10*time.Second, nil)
	p, err := b.Get(t.Context(), site(t).URL+"/done")
	require.NoError(t, err)
	_, err = b.Submit(t.Context(), p, "agree", nil)
	require.ErrorIs(t, err, formbrowser.ErrNoForm)
}

func TestElsewhere_EachRequestHasAnAddressOfItsOwn(t *testing.T) {
	t.Parallel()
	seen := map[string]bool{}
	server := httptest.NewServer(
		http.HandlerFunc(func(_ http.ResponseWriter, r *http.Request) { seen[r.Header.Get("X-Real-IP")] = true }))
	t.Cleanup(server.Close)
	b := formbrowser.New(10*time.Second, formbrowser.Elsewhere{RoundTripper: http.DefaultTransport})
	for range 5 {
		_, err := b.Get(t.Context(), server.URL)
		require.NoError(t, err)
	}
	require.Greater(t, len(seen), 3)
	require.NotContains(t, seen, "")
}
