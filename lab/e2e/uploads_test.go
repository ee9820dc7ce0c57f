package e2e_test

import (
	"bytes"
	"fmt"
	"io"
	"mime/multipart"
	"net"
	"net/http"
	"net/http/cookiejar"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/jackc/pgx/v5/pgxpool"
	"github.com/stretchr/testify/require"

	"partnerdeposits/core/id"
	"partnerdeposits/lab/filestest"
	"partnerdeposits/lab/stock"
)

// operator is a signed-in operator with a secured deposit.
type operator struct {
	*browser
	w             *deployment
	account       string
	path, pending string // of the deposits' pages
	token         string // of forms
	session       string
}

// operator signs an operator up, and gives the account a secured and a pending deposit.
func (w *deployment) operator(t testing.TB, name string) *operator {
	t.Helper()
	o := &operator{browser: newBrowser(t), w: w, account: w.link(t, name)}
	in := o.submit(o.open(w.baseURL+"/login"), url.Values{"email": {name + "@example.com"}, "password": {"correct-horse"}})
	require.Equal(t, "/dashboard", in.url.Path)
	secured, checkout := w.deposit(t, o.account)
	w.secure(t, checkout)
	pending, _ := w.deposit(t, o.account)
	o.path, o.pending = "/dashboard/deposits/"+secured, "/dashboard/deposits/"+pending
	form := o.open(w.baseURL+"/dashboard/partner").form(t, url.Values{})
	o.token = form.values.Get("csrf_token")
	base, err := url.Parse(w.baseURL)
	require.NoError(t, err)
	for _, c := range o.client.Jar.(*cookiejar.Jar).Cookies(base) {
		if c.Name == "session" {
			o.session = c.Value
		}
	}
	require.NotEmpty(t, o.session)
	return o
}

// send sends a form with a file.
func (o *operator) send(path string, content []byte) (status int, body string, err error) {
	var b bytes.Buffer
	form := multipart.NewWriter(&b)
	for _, field := range [][2]string{{"csrf_token", o.token}, {"intent", "add_files"}} {
		_ = form.WriteField(field[0], field[1]) // to memory
	}
	file, _ := form.CreateFormFile("files", "oven.jpg")
	_, _ = file.Write(content)
	_ = form.Close()
	res, err := o.client.Post(o.w.baseURL+path, form.FormDataContentType(), &b)
	if err != nil {
		return 0, "", err
	}
	defer func() { _ = res.Body.Close() }()
	page, err := io.ReadAll(res.Body)
	return res.StatusCode, string(page), err
}

// raw opens a connection and sends the beginning of a request.
func (o *operator) raw(t testing.TB, head, body string) *net.TCPConn {
	t.Helper()
	conn, err := net.Dial("tcp", strings.TrimPrefix(o.w.baseURL, "http://"))
	require.NoError(t, err)
	t.Cleanup(func() { _ = conn.Close() })
	tcp := conn.(*net.TCPConn)
	require.NoError(t, tcp.SetReadBuffer(4<<10))
	_, err = io.WriteString(conn, head+" HTTP/1.1\r\nHost: x\r\nCookie: session="+o.session+"\r\n"+body)
	require.NoError(t, err)
	return tcp
}

// slowForm begins a form with a file, and sends no more than its first byte.
func (o *operator) slowForm(t testing.TB, path string) *net.TCPConn {
	t.Helper()
	part := "--b\r\nContent-Disposition: form-data; name="
	return o.raw(t, "POST "+path,
		fmt.Sprintf("Content-Type: multipart/form-data; boundary=b\r\nContent-Length: %d\r\n\r\n", 20<<20)+
			part+"\"csrf_token\"\r\n\r\n"+o.token+"\r\n"+part+"\"intent\"\r\n\r\nadd_files\r\n"+part+
			"\"files\"; filename=\"a.jpg\"\r\n\r\n\xff")
}

// export begins an export, and gives status and Retry-After.
func (o *operator) export(t testing.TB) (status int, retry string) {
	t.Helper()
	res, err := o.client.Get(o.w.baseURL + "/dashboard/deposits.csv")
	require.NoError(t, err)
	defer func() { _ = res.Body.Close() }()
	_, err = io.Copy(io.Discard, res.Body)
	require.NoError(t, err)
	return res.StatusCode, res.Header.Get("Retry-After")
}

// TestUploadsAndExports_OfOneAccount_StopNobodyElse attacks a built http with one account while another one works.
func TestUploadsAndExports_OfOneAccount_StopNobodyElse(t *testing.T) {
	t.Parallel()
	w := newWorld(t)
	w.http(t)
	attacker, other := w.operator(t, "villa-71"), w.operator(t, "villa-72")
	photo := filestest.JPEG(t, filestest.Corners(40, 30), 6)

	begun := time.Now()
	for what, c := range map[string]struct {
		path   string
		sent   []byte
		status int
	}{
		"scans": {attacker.path, filestest.Progressive(6320, 6320, 1, 250),
			http.StatusUnprocessableEntity},
		"coefficients": {attacker.path, filestest.Progressive(6320, 6320, 3, 2),
			http.StatusUnprocessableEntity},
		"a deposit that nobody secured": {attacker.pending, filestest.Progressive(6320, 6320, 1, 250), http.StatusConflict},
	} {
		status, body, err := attacker.send(c.path, c.sent)
		require.NoError(t, err, what)
		require.Equal(t, c.status, status, "%s: %s", what, body)
	}
	require.Less(t, time.Since(begun), 10*time.Second, "no picture was decoded")

	answer := make(chan string, 1)
	begin := func() {
		slow := attacker.slowForm(t, attacker.path)
		go func() {
			all, _ := io.ReadAll(slow) // an error shows in what is missing
			answer <- string(all)
		}()
	}
	begin()
	require.Eventually(t, func() bool {
		select {
		case <-answer: // the slow form was refused: the other one came first
			begin()
		default:
		}
		status, _, err := attacker.send(attacker.path, photo)
		return err == nil && status == http.StatusTooManyRequests
	}, soon, often, "one form at a time")
	status, body, err := other.send(other.path, photo)
	require.NoError(t, err)
	require.Equal(t, http.StatusOK, status, body)
	require.Contains(t, <-answer, "upload_too_slow")

	pool, err := pgxpool.New(t.Context(), strings.TrimPrefix(w.environ[0], "DATABASE_URL="))
	require.NoError(t, err)
	t.Cleanup(pool.Close)
	partnerID, _ := id.Partner.Parse(w.partnerID)
	accountID, _ := id.Account.Parse(attacker.account)
	require.NoError(t, stock.Fill(t.Context(), pool, []stock.Owner{{Partner: partnerID, Account: accountID}},
		stock.Amount{Deposits: 20_000}))
	slow := attacker.raw(t, "GET /dashboard/deposits.csv", "\r\n")
	first := make([]byte, len("HTTP/1.1 200"))
	_, err = io.ReadFull(slow, first)
	require.NoError(t, err)
	require.Equal(t, "HTTP/1.1 200", string(first), "the export that is read slowly has the account's place")
	status, retry := attacker.export(t)
	require.Equal(t, http.StatusTooManyRequests, status, "one export at a time")
	require.Equal(t, "10", retry)
	status, _ = other.export(t)
	require.Equal(t, http.StatusOK, status)
	require.Eventually(t, func() bool {
		status, _ := attacker.export(t)
		return status == http.StatusOK
	}, soon, time.Second, "a reader that takes nothing loses its place")
}
