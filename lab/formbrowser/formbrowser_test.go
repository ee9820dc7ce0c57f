package formbrowser_test

import (
	"fmt"
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
	require.Len(t, p.Forms, 2)
	done, err := b.Submit(t.Context(), p, "agree", map[string]string{"agree": "yes", "firstName": "Grace"})
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, done.Status)
	require.Equal(t, "agree=yes&comment=kept&firstName=Grace&lang=fr&news=on&token=t1&cookie=1", string(done.Body))
}

func TestBrowser_APageWithoutTheForm_IsAnError(t *testing.T) {
	t.Parallel()
	b := formbrowser.New(10*time.Second, nil)
	p, err := b.Get(t.Context(), site(t).URL+"/done")
	require.NoError(t, err)
	_, err = b.Submit(t.Context(), p, "agree", nil)
	require.ErrorIs(t, err, formbrowser.ErrNoForm)
}
