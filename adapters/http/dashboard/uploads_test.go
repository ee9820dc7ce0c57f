package dashboard_test

import (
	"bufio"
	"fmt"
	"io"
	"net"
	"net/http"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/google/uuid"
	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/dashboard"
)

// raw begins a form with files and leaves the connection open: head and beginning of the body are sent, and no more.
func (d *desk) raw(t testing.TB, cookie, begin string, length int, headers ...string) (net.Conn, *bufio.Reader) {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(d.URL, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	head := append([]string{
		"POST " + d.path + " HTTP/1.1", "Host: x", "Content-Type: multipart/form-data; boundary=b",
		fmt.Sprint("Content-Length: ", length), "Cookie: session=" + cookie,
	}, headers...)
	_, err = io.WriteString(conn, strings.Join(head, "\r\n")+"\r\n\r\n"+begin)
	require.NoError(t, err)
	require.NoError(t, conn.SetReadDeadline(time.Now().Add(20*time.Second)))
	return conn, bufio.NewReader(conn)
}

func tokenPart(token string) string {
	return "--b\r\nContent-Disposition: form-data; name=\"csrf_token\"\r\n\r\n" + token + "\r\n--b\r\n"
}

func (d *desk) session(t testing.TB) string {
	t.Helper()
	for _, c := range d.b.Cookies(d.URL) {
		if c.Name == "session" {
			return c.Value
		}
	}
	require.Fail(t, "no session")
	return ""
}

// The body of a form without session, token or origin is not read: the answer comes though the body never does.
func TestFiles_OfAForgedForm_AreNotRead(t *testing.T) {
	d := newFilesDesk(t)
	token, cookie := d.token(d.b), d.session(t)
	filePart := "Content-Disposition: form-data; name=\"files\"; filename=\"a.jpg\"\r\n\r\n\xff\xd8\xff"
	for what, c := range map[string]struct {
		cookie, begin string
		headers       []string
		status        int
	}{
		"no session":              {"", tokenPart(token), nil, http.StatusSeeOther},
		"a foreign session":       {strings.Repeat("x", 43), tokenPart(token), nil, http.StatusSeeOther},
		"no token":                {cookie, "--b\r\n" + filePart, nil, http.StatusForbidden},
		"a wrong token":           {cookie, tokenPart(strings.Repeat("0", 64)) + filePart, nil, http.StatusForbidden},
		"a token after the files": {cookie, "--b\r\n" + filePart + "\r\n" + tokenPart(token), nil, http.StatusForbidden},
		"another origin": {cookie, tokenPart(token) + filePart, []string{"Origin: https://evil.example"},
			http.StatusForbidden},
		"another site": {cookie, tokenPart(token) + filePart, []string{"Sec-Fetch-Site: cross-site"},
			http.StatusForbidden},
		"a length above the most": {cookie, tokenPart(token) + filePart, []string{}, http.StatusRequestEntityTooLarge},
	} {
		t.Run(what, func(t *testing.T) {
			t.Parallel()
			length := 20 << 20
			if c.status == http.StatusRequestEntityTooLarge {
				length = 1 << 30
			}
			_, r := d.raw(t, c.cookie, c.begin, length, c.headers...)
			res, err := http.ReadResponse(r, nil)
			require.NoError(t, err, "the answer came before the body")
			require.Equal(t, c.status, res.StatusCode)
			require.True(t, res.Close, "the next request cannot be found on this connection")
			_ = res.Body.Close()
		})
	}
}

// begun is a form with files up to the first byte of the first file.
func begun(token, intent string) string {
	return tokenPart(token) + "Content-Disposition: form-data; name=\"intent\"\r\n\r\n" + intent +
		"\r\n--b\r\nContent-Disposition: form-data; name=\"files\"; filename=\"a.jpg\"\r\n\r\n\xff\xd8\xff"
}

// beside links a further account with a secured deposit.
func (d *desk) beside(email string) *desk {
	d.t.Helper()
	other := &desk{Server: d.Server, t: d.t, partner: d.partner}
	other.b, other.account = linked(d.t, d.Server, email, "demo")
	other.reference = deposits(d.t, d.Server, d.partner, other.account, 1)[0]
	other.path = pathOf(d.t, d.Server, other.reference)
	change(d.t, d.Server,
		`UPDATE deposits SET status = 'active', activated_at = created_at, expires_at = $2 WHERE account_id = $1`,
		uuid.UUID(other.account), d.Clock.Now().Add(time.Hour))
	return other
}

func TestUploads_OfAnAccount_AreBoundedByTheirBytes(t *testing.T) {
	uploads := dashboard.NewUploadLimits(8, 1<<30, time.Minute)
	d := newFilesDesk(t, uploads)
	token, cookie := d.token(d.b), d.session(t)
	big, _ := d.raw(t, cookie, begun(token, "capture"), 20<<20)
	small, _ := d.raw(t, cookie, begun(token, "capture"), 1000)
	require.Eventually(t, func() bool { return uploads.InFlight() == 2 }, 10*time.Second, 10*time.Millisecond)
	require.Equal(t, http.StatusOK, d.send(d.b, d.path, token, capture(), photo(t, "a.jpg")).Status, "2 MB beside")

	_, r := d.raw(t, cookie, begun(token, "capture"), 5<<20)
	refused, err := http.ReadResponse(r, nil)
	require.NoError(t, err, "the answer came before the body")
	page, err := io.ReadAll(refused.Body)
	require.NoError(t, err)
	require.Equal(t, http.StatusTooManyRequests, refused.StatusCode)
	require.Contains(t, string(page), "one_at_a_time")
	require.Equal(t, "10", refused.Header.Get("Retry-After"))
	require.Contains(t, string(page), "in another window")
	require.Equal(t, http.StatusOK, d.b.Get(d.path).Status, "other pages are served")
	require.NotEqual(t, http.StatusTooManyRequests,
		d.b.Post(d.path, url.Values{"csrf_token": {token}, "intent": {"release"}}).Status, "forms without files too")

	other := d.beside("c@d.example")
	require.Equal(t, http.StatusOK,
		d.send(other.b, other.path, d.token(other.b), capture(), photo(t, "a.jpg")).Status, "another account")

	require.NoError(t, big.Close())
	require.NoError(t, small.Close())
	require.Eventually(t, func() bool { return uploads.InFlight() == 0 }, 10*time.Second, 10*time.Millisecond,
		"the bytes are given back")
	require.Equal(t, http.StatusOK, d.send(d.b, d.path, token, capture(), photo(t, "a.jpg")).Status)
}

// Forms that arrive slowly hold no place for the cleaning of files, and no more of the disk than has arrived.
func TestUploads_BesideSlowFormsOfManyAccounts_AreTaken(t *testing.T) {
	uploads := dashboard.NewUploadLimits(2, 28<<20, time.Minute) // 25 MB of it for accounts that had none lately
	d := newFilesDesk(t, uploads)
	for n := range 9 {
		slow := d.beside(string(rune('b'+n)) + "@slow.example")
		slow.raw(t, slow.session(t), begun(slow.token(slow.b), "capture"), 25<<20)
	}
	require.Eventually(t, func() bool { return uploads.InFlight() == 9 }, 10*time.Second, 10*time.Millisecond)
	for range 3 {
		sent := d.send(d.b, d.path, d.token(d.b), capture(), photo(t, "a.jpg"))
		require.Equal(t, http.StatusOK, sent.Status, sent.ErrorCode())
	}
	require.Equal(t, 9, uploads.InFlight())
}

// A form whose files find no room on the disk is refused where it is, and gives back what it took.
func TestUploads_BeyondTheDiskOfAProcess_AreAskedToComeBack(t *testing.T) {
	for what, room := range map[string]int{"none": 0, "less than a file": 100} {
		t.Run(what, func(t *testing.T) {
			uploads := dashboard.NewUploadLimits(8, room, time.Minute)
			d := newFilesDesk(t, uploads)
			for range 2 {
				busy := d.send(d.b, d.path, d.token(d.b), capture(), photo(t, "a.jpg"))
				require.Equal(t, http.StatusServiceUnavailable, busy.Status)
				require.Equal(t, "uploads_busy", busy.ErrorCode())
				require.Equal(t, "10", busy.Header.Get("Retry-After"))
			}
			require.Zero(t, uploads.InFlight())
			require.Zero(t, d.Count("deposit_files", ""))
		})
	}
}

// The answer comes though the body never does.
func TestFiles_ThatTheDepositOrTheAccountRulesOut_AreNotRead(t *testing.T) {
	s, b, made := unverifiedDesk(t)
	d := &desk{Server: s, t: t, b: b, reference: made[0], path: pathOf(t, s, made[0])}
	token, cookie := d.token(d.b), d.session(t)
	ask := func(begin string) (int, string) {
		_, r := d.raw(t, cookie, begin, 20<<20)
		res, err := http.ReadResponse(r, nil)
		require.NoError(t, err, "the answer came before the body")
		body, err := io.ReadAll(res.Body)
		require.NoError(t, err)
		return res.StatusCode, string(body)
	}
	status, page := ask(tokenPart(token))
	require.Equal(t, http.StatusConflict, status, "a deposit that nobody secured")
	require.Contains(t, page, "No file was added")

	secured(t, d.Server, d.reference, time.Hour)
	status, _ = ask(begun(token, "capture"))
	require.Equal(t, http.StatusForbidden, status, "an address that nobody verified")

	change(t, d.Server, `UPDATE operators SET verified_at = $2 WHERE email = $1`, "a@b.example", d.Clock.Now())
	captured(t, d.Server, d.reference, 10_000)
	status, page = ask(begun(token, "capture"))
	require.Equal(t, http.StatusConflict, status, "a deposit that was captured")
	require.Contains(t, page, `role="alert"`)
	for what, begin := range map[string]string{
		"files before the intent":       strings.Replace(begun(token, "add_files"), `"intent"`, `"reason"`, 1),
		"an intent that takes no files": begun(token, "release"),
		"an unknown intent":             begun(token, "x"),
	} {
		status, _ = ask(begin)
		require.Equal(t, http.StatusBadRequest, status, what)
	}
	require.Zero(t, d.Count("deposit_files", ""))
}

func TestUpload_ThatIsSlow_EndsAtItsDeadline(t *testing.T) {
	d := newFilesDesk(t, dashboard.NewUploadLimits(8, 1<<30, 300*time.Millisecond))
	token, cookie := d.token(d.b), d.session(t)
	conn, r := d.raw(t, cookie, begun(token, "capture"), 1<<20)
	since := time.Now()
	res, err := http.ReadResponse(r, nil)
	require.NoError(t, err)
	require.Equal(t, http.StatusBadRequest, res.StatusCode)
	body, err := io.ReadAll(res.Body)
	require.NoError(t, err)
	require.Contains(t, string(body), "upload_too_slow")
	require.Less(t, time.Since(since), 10*time.Second)
	require.NoError(t, conn.Close())
	require.Equal(t, http.StatusOK, d.send(d.b, d.path, token, capture(), photo(t, "a.jpg")).Status,
		"the place is given back")
}
