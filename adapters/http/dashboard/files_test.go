package dashboard_test

import (
	"bytes"
	"fmt"
	"mime/multipart"
	"net/http"
	"net/textproto"
	"net/url"
	"strings"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/adapters/http/dashboard"
	"partnerdeposits/core/deposit"
	"partnerdeposits/lab/connecttest"
	"partnerdeposits/lab/filestest"
)

// sentFile is a file as a browser sends it: name and type are the sender's words.
type sentFile struct {
	name, kind string
	content    []byte
}

// formWith is a form of several parts: the token, the fields, the files.
func formWith(t testing.TB, token string, fields url.Values, files ...sentFile) (body []byte, contentType string) {
	t.Helper()
	var b bytes.Buffer
	w := multipart.NewWriter(&b)
	if token != "" {
		require.NoError(t, w.WriteField("csrf_token", token))
	}
	for name, values := range fields {
		for _, value := range values {
			require.NoError(t, w.WriteField(name, value))
		}
	}
	for _, f := range files {
		header := textproto.MIMEHeader{"Content-Type": {f.kind}}
		header.Set("Content-Disposition", `form-data; name="files"; filename="`+strings.ReplaceAll(f.name, `"`, `\"`)+`"`)
		part, err := w.CreatePart(header)
		require.NoError(t, err)
		_, err = part.Write(f.content)
		require.NoError(t, err)
	}
	require.NoError(t, w.Close())
	return b.Bytes(), w.FormDataContentType()
}

func (d *desk) token(b *connecttest.Browser) string {
	return b.Get("/dashboard/partner").InputAttribute("csrf_token", "value")
}

func (d *desk) send(b *connecttest.Browser, path, token string, fields url.Values,
	files ...sentFile) connecttest.Answer {
	d.t.Helper()
	body, contentType := formWith(d.t, token, fields, files...)
	req, err := http.NewRequestWithContext(d.t.Context(), http.MethodPost, d.URL+path, bytes.NewReader(body))
	require.NoError(d.t, err)
	req.Header.Set("Content-Type", contentType)
	return b.FollowKeptForm(b.Do(req))
}

// capture is the first form of a capture.
func capture() url.Values {
	return url.Values{"intent": {"capture"}, "amount": {"100"}, "reason": {"damage"}, "description": {"The oven"}}
}

func photo(t testing.TB, name string) sentFile {
	t.Helper()
	return sentFile{name, "image/jpeg", filestest.JPEG(t, filestest.ColoredCornersImage(40, 30), 6)}
}

// confirmOf sends the form of a page that asks once more.
func confirmOf(b *connecttest.Browser, page connecttest.Answer) connecttest.Answer {
	for _, f := range page.ElementsByTag("form") {
		values := url.Values{}
		for n := range f.Descendants() {
			if name := attribute(n, "name"); n.Data == "input" && name != "" {
				values.Add(name, attribute(n, "value"))
			}
		}
		if values.Has("confirm") {
			return b.Post(attribute(f, "action"), values)
		}
	}
	return page // its status tells
}

// another adds a deposit to the account.
func (d *desk) another() (reference string) {
	now := d.Clock.Now()
	made, _ := d.CreateDeposit(
		deposit.Origin{AccountID: d.account, PartnerID: d.partner.ID, ByPartnerAPI: true, ExternalID: "x"},
		deposit.Draft{Amount: 50_000, ContractStartAt: now, ContractEndAt: now.Add(72 * time.Hour)})
	return made.Reference
}

func newFilesDesk(t *testing.T, o ...*dashboard.UploadLimits) *desk {
	t.Helper()
	d := newDesk(t, o...)
	secured(t, d.Server, d.reference, time.Hour)
	return d
}

func TestCapture_WithFiles_AddsThemOnceConfirmed(t *testing.T) {
	d := newFilesDesk(t)
	pdf := sentFile{"../../invoice\u202e.exe", "text/html", filestest.PDF()}
	page := d.send(d.b, d.path, d.token(d.b), capture(), photo(t, `C:\photos\Four cassé.jpeg`), pdf,
		sentFile{"", "application/octet-stream", nil})
	require.Equal(t, http.StatusOK, page.Status, page.Body)
	require.Contains(t, page.Body, "Four cassé.jpg")
	require.Contains(t, page.Body, "invoice .exe.pdf")
	require.Equal(t, 2, d.Count("deposit_files", "added_at IS NULL"))
	shown := d.b.Get(d.path)
	require.NotContains(t, shown.Body, "Four cassé.jpg", "nothing counts before it is confirmed")
	require.Equal(t, deposit.Active, depositOf(t, d.Server, d.reference).Status)

	done := confirmOf(d.b, page)
	require.Equal(t, http.StatusSeeOther, done.Status, done.Body)
	again := confirmOf(d.b, page)
	require.Equal(t, http.StatusSeeOther, again.Status, "the same form once more")
	require.Equal(t, 2, d.Count("deposit_files", "added_at IS NOT NULL"))
	require.Equal(t, 1, d.Count("audit_log", "action = 'deposit.add_files' AND detail->>'files' = '2'"))
	require.Equal(t, deposit.Captured, depositOf(t, d.Server, d.reference).Status)
	shown = d.b.Get(d.path)
	require.Contains(t, shown.Body, "Files added: 2")
	require.Contains(t, d.b.Get(d.path+"?lang=fr").Body, "Fichiers ajoutés"+"\u00a0: 2")

	link := shown.LinkURLByPrefix(d.path + "/files/")
	require.NotEmpty(t, link)
	got := d.b.Get(link)
	require.Equal(t, http.StatusOK, got.Status)
	require.Equal(t, "image/jpeg", got.Header.Get("Content-Type"))
	require.Equal(t, `attachment; filename="Four cass_.jpg"; filename*=UTF-8''Four%20cass%C3%A9.jpg`,
		got.Header.Get("Content-Disposition"))
	require.Equal(t, "nosniff", got.Header.Get("X-Content-Type-Options"))
	require.Contains(t, got.Header.Get("Content-Security-Policy"), "sandbox")
	require.Equal(t, "private, no-store", got.Header.Get("Cache-Control"))
	require.True(t, strings.HasPrefix(got.Body, "\xff\xd8\xff"))
	require.NotContains(t, got.Body, filestest.GPSPosition)
	require.NotContains(t, got.Body, "<script>")
}

func TestFiles_AreAddedToACapturedDepositToo(t *testing.T) {
	d := newFilesDesk(t)
	token := d.token(d.b)
	none := d.send(d.b, d.path, token, url.Values{"intent": {"add_files"}})
	require.Equal(t, http.StatusUnprocessableEntity, none.Status)
	require.Contains(t, none.Body, "Choose at least one file.")
	captured(t, d.Server, d.reference, 10_000)
	page := d.send(d.b, d.path, token, url.Values{"intent": {"add_files"}}, photo(t, "a.jpg"))
	require.Equal(t, http.StatusSeeOther, confirmOf(d.b, page).Status)
	require.Equal(t, 1, d.Count("deposit_files", "added_at IS NOT NULL"))
	direct := d.send(d.b, d.path, token, url.Values{"intent": {"add_files"}, "confirm": {"yes"}}, photo(t, "b.jpg"))
	require.Equal(t, http.StatusSeeOther, direct.Status)
	require.Equal(t, 2, d.Count("deposit_files", "added_at IS NOT NULL"))
	late := d.send(d.b, pathOf(t, d.Server, d.another()), token, url.Values{"intent": {"add_files"}}, photo(t, "c.jpg"))
	require.Equal(t, http.StatusConflict, late.Status, "a deposit that nobody secured")
	require.Equal(t, 2, d.Count("deposit_files", ""), "nothing is left behind")
}

func TestFiles_WithMistakes_AreNamedAtTheirFieldAndLeaveNothing(t *testing.T) {
	d := newFilesDesk(t)
	token := d.token(d.b)
	large := bytes.Repeat([]byte{0}, 10<<20+1)
	copy(large, "%PDF-1.7")
	whole := append(bytes.Repeat([]byte{'\n'}, 10<<20-len(filestest.PDF())), filestest.PDF()...)
	copy(whole, "%PDF-1.7")
	eleven := make([]sentFile, 11)
	for i := range eleven {
		eleven[i] = photo(t, fmt.Sprint(i, ".jpg"))
	}
	truncated := photo(t, "half.jpg")
	truncated.content = truncated.content[:len(truncated.content)/2]
	for what, c := range map[string]struct {
		files []sentFile
		says  string
	}{
		"a page that calls itself a picture": {[]sentFile{
			{"oven.jpg", "image/jpeg", []byte("<!doctype html><script>alert(1)</script>")}}, "oven.jpg is neither a JPEG"},
		"a drawing with a script": {[]sentFile{{"a.png", "image/png", []byte("<svg onload=alert(1)>")}},
			"a.png is neither"},
		"eleven files":     {eleven, "Choose 10 files at most."},
		"10 MB and a byte": {[]sentFile{{"big.pdf", "application/pdf", large}}, "big.pdf has more than 10 MB."},
		"half a picture":   {[]sentFile{truncated}, "half.jpg cannot be read."},
		"a bomb of pixels": {[]sentFile{{"b.png", "image/png", filestest.PNGHeader(1<<30, 1<<30, 16, 6, 0)}},
			"b.png has more than 40 megapixels."},
		"a picture that takes too much to read": {[]sentFile{{"slow.jpg", "image/jpeg",
			filestest.ProgressiveJPEG(6320, 6320, 3, 250)}}, "slow.jpg takes too much memory or time to read."},
		"an empty file": {[]sentFile{{"e.pdf", "application/pdf", nil}}, "e.pdf is empty."},
		"a bad one among good ones": {[]sentFile{photo(t, "good.jpg"), {"x<b>.txt", "image/jpeg", []byte("x")}},
			"x b .txt is neither"},
	} {
		page := d.send(d.b, d.path, token, capture(), c.files...)
		require.Equal(t, http.StatusUnprocessableEntity, page.Status, what)
		require.Contains(t, page.Body, c.says, what)
		require.Contains(t, page.Body, `href="#capture-files"`, what)
		require.Zero(t, d.Count("deposit_files", ""), what)
		require.Zero(t, d.Count("file_contents", ""), what)
	}
	wrong := capture()
	wrong.Set("amount", "x")
	page := d.send(d.b, d.path, token, wrong, photo(t, "good.jpg"))
	require.Equal(t, http.StatusUnprocessableEntity, page.Status)
	require.Contains(t, page.Body, "Please choose them again.")
	require.Zero(t, d.Count("deposit_files", ""))
	page = d.send(d.b, d.path, token, capture(), sentFile{"whole.pdf", "application/pdf", whole})
	require.Equal(t, http.StatusOK, page.Status, "10 MB are allowed")
}

func TestForm_Above25MB_IsRefusedByItsLength(t *testing.T) {
	d := newFilesDesk(t)
	token := d.token(d.b)
	of := func(total int) []byte {
		empty, _ := formWith(t, token, capture(), sentFile{"a.bin", "image/jpeg", nil})
		body, _ := formWith(t, token, capture(), sentFile{"a.bin", "image/jpeg", make([]byte, total-len(empty))})
		require.Len(t, body, total)
		return body
	}
	post := func(body []byte) connecttest.Answer {
		req, err := http.NewRequestWithContext(t.Context(), http.MethodPost, d.URL+d.path, bytes.NewReader(body))
		require.NoError(t, err)
		first, _, _ := strings.Cut(string(body), "\r\n")
		req.Header.Set("Content-Type", `multipart/form-data; boundary=`+strings.TrimPrefix(first, "--"))
		return d.b.FollowKeptForm(d.b.Do(req))
	}
	require.Contains(t, post(of(25<<20)).Body, "more than 10 MB", "the form was read")
	answer := post(of(25<<20 + 1))
	require.Equal(t, http.StatusRequestEntityTooLarge, answer.Status)
	require.Equal(t, "files_too_large", answer.ErrorCode())
	require.Zero(t, d.Count("deposit_files", ""))
}

func TestWaitingFiles_OfOthersOrTooLate_CaptureNothing(t *testing.T) {
	d := newFilesDesk(t)
	page := d.send(d.b, d.path, d.token(d.b), capture(), photo(t, "a.jpg"))
	waiting := page.InputAttribute("waiting", "value")
	require.NotEmpty(t, waiting)
	confirm := func(b *connecttest.Browser, path string) connecttest.Answer {
		values := capture()
		values.Set("confirm", "yes")
		values.Set("waiting", waiting)
		values.Set("csrf_token", d.token(b))
		return b.Post(path, values)
	}
	second := d.NewBrowser(t) // the same operator, in another session
	require.Equal(t, http.StatusSeeOther,
		second.Submit("/login", map[string]string{"email": "a@b.example", "password": "correct horse battery"}).Status)
	require.Equal(t, http.StatusConflict, confirm(second, d.path).Status, "another session")
	stranger, _ := linked(t, d.Server, "c@d.example", "demo")
	require.Equal(t, http.StatusNotFound, confirm(stranger, d.path).Status, "another account")
	other := d.another()
	secured(t, d.Server, other, time.Hour)
	require.Equal(t, http.StatusConflict, confirm(d.b, pathOf(t, d.Server, other)).Status, "another deposit")
	d.Clock.Add(time.Hour + time.Second)
	change(t, d.Server, `UPDATE deposits SET expires_at = $2 WHERE reference = $1`, d.reference,
		d.Clock.Now().Add(time.Hour))
	late := confirm(d.b, d.path)
	require.Equal(t, http.StatusConflict, late.Status, "an hour is over")
	require.Contains(t, late.Body, "Send them again")
	require.Zero(t, d.Count("deposit_files", "added_at IS NOT NULL"))
	require.Zero(t, d.Count("deposits", "status = 'captured'"))
	require.Zero(t, d.Count("payments", ""))
}

func TestDownload_OfAnotherAccountDepositOrWaitingFile_IsNotFound(t *testing.T) {
	d := newFilesDesk(t)
	token := d.token(d.b)
	page := d.send(d.b, d.path, token, url.Values{"intent": {"add_files"}}, photo(t, "a.jpg"))
	link := d.path + "/files/" + page.InputAttribute("waiting", "value")
	require.Equal(t, http.StatusNotFound, d.b.Get(link).Status, "a file that waits")
	require.Equal(t, http.StatusSeeOther, confirmOf(d.b, page).Status)
	require.Equal(t, http.StatusOK, d.b.Get(link).Status)
	stranger, _ := linked(t, d.Server, "c@d.example", "demo")
	require.Equal(t, http.StatusNotFound, stranger.Get(link).Status)
	require.Equal(t, "/login?next="+url.QueryEscape(link), d.NewBrowser(t).Get(link).Location)
	other := d.another()
	_, file, _ := strings.Cut(link, "/files/")
	elsewhere := d.b.Get(pathOf(t, d.Server, other) + "/files/" + file)
	require.Equal(t, http.StatusNotFound, elsewhere.Status)
	require.Equal(t, "file_not_found", elsewhere.ErrorCode())
	for _, bad := range []string{"x", "..%2f..%2fetc", "fil_" + strings.Repeat("0", 26)} {
		require.Equal(t, http.StatusNotFound, d.b.Get(d.path+"/files/"+bad).Status, bad)
	}
}
