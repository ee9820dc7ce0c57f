package dashboard

import (
	"bytes"
	"errors"
	"io"
	"mime"
	"mime/multipart"
	"net"
	"net/http"
	"os"
	"strconv"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"
	"github.com/valyala/fasthttp"

	"partnerdeposits/adapters/http/middleware"
	"partnerdeposits/adapters/http/problem"
	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/accounts/operators"
	"partnerdeposits/app/deposits"
	"partnerdeposits/app/deposits/desk"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/evidence"
	"partnerdeposits/core/fault"
)

const (
	maxToken = 1 << 10 // Greatest length in bytes of the CSRF token, the form's first field.
	// Limit in bytes for all text fields of a form with files, as for other forms.
	maxFields = 64 << 10
)

// minRateUpload is the body of a form with files, which the browser must send at the least rate and, once set,
// before end.
type minRateUpload struct {
	*middleware.UploadBody
	pace middleware.MinRateGuard
	end  time.Time
}

// Read reads from a form with files and sets the deadline for the next bytes.
func (p *minRateUpload) Read(b []byte) (int, error) {
	if p.end.IsZero() {
		return p.UploadBody.Read(b)
	}
	begun := time.Now()
	until := begun.Add(p.pace.Left)
	if p.end.Before(until) {
		until = p.end
	}
	if err := p.SetReadDeadline(until); err != nil {
		return 0, err
	}
	n, err := p.UploadBody.Read(b)
	p.pace.RecordBytes(n, time.Since(begun))
	return n, err
}

// IsUpload reports from a request's head whether it is a form with files, whose body the handler reads itself
// (middleware.ServerHooks).
func IsUpload(header *fasthttp.RequestHeader) bool {
	path, _, _ := strings.Cut(string(header.RequestURI()), "?")
	name, found := strings.CutPrefix(strings.TrimSuffix(path, "/"), pathDeposits+"/")
	return found && name != "new" && !strings.Contains(name, "/") && header.IsPost() &&
		len(header.MultipartFormBoundary()) > 0
}

type upload struct {
	files   []deposits.UploadedFile
	refused []deposits.RefusedFile
	scratch []*os.File
	tooMany bool
	// Bytes of the text fields of a form with files so far.
	fields  int
	takes   func(intent string) error
	decided bool // Whether the form's intent was received, so that files may follow.
	bytes   *middleware.BudgetPart
	place   *middleware.BudgetPart
}

// close deletes the form's temporary files and frees their bytes in the limits.
func (u *upload) close() {
	for _, f := range u.scratch {
		_ = f.Close()
	}
	u.place.Release()
	u.bytes.Release()
}

// readUpload receives a form with files. Before the files it checks session, origin, CSRF token and takesFiles; it
// writes files to the disk and waits for permission to clean them. ui.PostValue then finds the fields. The caller
// closes the result, even after an error.
//
// Returns ui.ErrInvalidFormToken, errFormTooLarge, errBusy, errSecond, errSlow, rate_limited,
// problem.ErrMalformedRequest, or the errors of takesFiles.
func (p *pages) readUpload(c *fiber.Ctx, by caller, v desk.DepositView, sent *middleware.UploadBody) (*upload, error) {
	u := &upload{takes: func(intent string) error { return p.takesFiles(by, v, intent) }}
	body := &minRateUpload{UploadBody: sent, pace: middleware.NewMinRateGuard()}
	if !p.Site.SameOrigin(c) {
		return u, ui.ErrInvalidFormToken
	}
	if body.Length() < 0 || body.Length() > evidence.MaxFormSize {
		return u, errFormTooLarge
	}
	_, parameters, err := mime.ParseMediaType(c.Get(fiber.HeaderContentType))
	if err != nil || parameters["boundary"] == "" {
		return u, problem.ErrMalformedRequest
	}
	parts := multipart.NewReader(body, parameters["boundary"])
	if err := u.readToken(c, parts); err != nil {
		return u, err
	}
	if err := p.Site.CheckCSRF(c); err != nil {
		return u, err
	}
	if err := deposits.CheckTakesFiles(v.Deposit); err != nil {
		return u, err
	}
	if err := p.limited(c, by, operators.UploadRateLimit); err != nil {
		return u, err
	}
	// The announced length counts against the account's limit, but only bytes on the disk against the process's,
	// since slow senders fill it slowly.
	if u.bytes, err = p.Uploads.bytes.TryAcquire(by.Account.ID, max(body.Length(), leastForm), 0); err != nil {
		return u, err
	}
	body.end = time.Now().Add(p.Uploads.readFor)
	if err := u.readParts(c, parts, body); err != nil {
		return u, err
	}
	u.place, err = p.Uploads.enter(c.UserContext(), by.Account.ID, cleanWait)
	return u, err
}

func (u *upload) readParts(c *fiber.Ctx, parts *multipart.Reader, body io.Reader) error {
	for {
		part, err := parts.NextRawPart()
		if errors.Is(err, io.EOF) {
			// Bytes after the form's last part are read and dropped.
			_, err = io.Copy(io.Discard, body)
			return unread(err)
		}
		if err != nil {
			return unread(err)
		}
		if err := u.readPart(c, part); err != nil {
			return err
		}
	}
}

// readToken reads the CSRF token, the first part of a form with files.
func (u *upload) readToken(c *fiber.Ctx, parts *multipart.Reader) error {
	part, err := parts.NextRawPart()
	if err != nil {
		return unread(err)
	}
	if part.FormName() != ui.CSRFFieldName {
		return ui.ErrInvalidFormToken
	}
	token, err := io.ReadAll(io.LimitReader(part, maxToken+1))
	if err != nil {
		return unread(err)
	}
	if len(token) > maxToken {
		return ui.ErrInvalidFormToken
	}
	c.Request().PostArgs().Set(ui.CSRFFieldName, string(token))
	return nil
}

func (u *upload) readPart(c *fiber.Ctx, part *multipart.Part) error {
	name := part.FormName()
	if name == fieldFiles {
		// The field intent must precede the files, since it decides whether they are accepted.
		if !u.decided {
			return problem.ErrMalformedRequest
		}
		return u.readFile(part)
	}
	value, err := io.ReadAll(io.LimitReader(part, int64(maxFields-u.fields)+1))
	if err != nil {
		return unread(err)
	}
	if u.fields += len(name) + len(value); u.fields > maxFields {
		return fault.ErrPayloadTooLarge
	}
	// A second CSRF token is ignored, since the form's first part was the token.
	if name != ui.CSRFFieldName {
		c.Request().PostArgs().Add(name, string(value))
	}
	if name == fieldIntent && !u.decided {
		u.decided = true
		return u.takes(ui.PostValue(c, fieldIntent))
	}
	return nil
}

// readFile writes a form's file to the disk; one that will be refused is read but not stored.
func (u *upload) readFile(part *multipart.Part) error {
	sent := part.FileName()
	var first [1]byte
	if n, err := io.ReadFull(part, first[:]); n == 0 {
		if !errors.Is(err, io.EOF) {
			return unread(err)
		}
		// Without a chosen file a browser sends an empty part without a name; an empty part with a name is a refused
		// file.
		if sent != "" {
			u.refused = append(u.refused, deposits.RefusedFile{Name: sent, Why: evidence.ErrEmpty})
		}
		return nil
	}
	if len(u.files)+len(u.refused) >= evidence.MaxFilesPerForm {
		u.tooMany = true
		_, err := io.Copy(io.Discard, part)
		return unread(err)
	}
	f, err := u.newScratch()
	if err != nil {
		return err
	}
	rest := io.MultiReader(bytes.NewReader(first[:]), part)
	size, err := io.Copy(tempFileWriter{f, u.bytes}, io.LimitReader(rest, evidence.MaxFileSize+1))
	if err != nil {
		return unread(err)
	}
	if size > evidence.MaxFileSize {
		u.refused = append(u.refused, deposits.RefusedFile{Name: sent, Why: evidence.ErrTooLarge})
		_, err = io.Copy(io.Discard, part)
		return unread(errors.Join(err, f.Truncate(0)))
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return err
	}
	u.files = append(u.files, deposits.UploadedFile{Name: sent, Size: size, Content: f})
	return nil
}

// newScratch creates a temporary file and removes its name, so that it disappears with the process.
func (u *upload) newScratch() (*os.File, error) {
	f, err := os.CreateTemp("", "upload-*")
	if err != nil {
		return nil, err
	}
	u.scratch = append(u.scratch, f)
	return f, os.Remove(f.Name())
}

// errScratch marks an error of this machine's disk, not caused by the browser's bytes.
var errScratch = errors.New("dashboard: scratch file")

type tempFileWriter struct {
	f     *os.File
	bytes *middleware.BudgetPart
}

// Write writes to the temporary file, or returns errBusy if the files of all forms have reached their limit.
func (s tempFileWriter) Write(b []byte) (int, error) {
	if err := s.bytes.Grow(len(b)); err != nil {
		return 0, err
	}
	n, err := s.f.Write(b)
	if err != nil {
		err = errors.Join(errScratch, err)
	}
	return n, err
}

// unread converts an error while a form is received: one that the browser caused becomes a fault for the browser.
func unread(err error) error {
	var slow net.Error
	switch {
	case err == nil, errors.Is(err, errScratch), errors.Is(err, errBusy):
		return err
	case errors.As(err, &slow) && slow.Timeout():
		return errSlow
	}
	return problem.ErrMalformedRequest.WithCause(err)
}

// takesFiles returns an error if the deposit or account does not allow a form's files.
//
// Returns connect.ErrEmailUnverified, the errors of Act.Possible, or problem.ErrMalformedRequest for a form that takes
// no files.
func (p *pages) takesFiles(by caller, v desk.DepositView, intent string) error {
	f := actForm{intent: intent}
	switch {
	case !f.takesFiles():
		return problem.ErrMalformedRequest
	case f.act().NeedsVerifiedEmail() && p.Operators.HasUnverifiedEmail(by.Operator):
		return connect.ErrEmailUnverified
	}
	return f.act().CheckPossible(v.Deposit, v.Debt, v.Now)
}

// uploadRefused answers a form with files that was refused before it was read completely.
func (p *pages) uploadRefused(c *fiber.Ctx, by caller, v desk.DepositView, err error) error {
	switch {
	case errors.Is(err, ui.ErrInvalidFormToken):
		return ui.RenderFormExpired(c, depositPath(v.ID))
	case errors.Is(err, connect.ErrEmailUnverified):
		return p.unverified(c, by)
	case fault.KindOf(err) == fault.Conflict:
		return p.conflict(c, by, v, err)
	// A busy process is no outage, so the log of outages must not count this error.
	case errors.Is(err, errBusy):
		c.Set(fiber.HeaderRetryAfter, strconv.Itoa(int(placeRetry/time.Second)))
		return ui.RenderProblem(c, problem.ErrorPage{Status: http.StatusServiceUnavailable, Code: errBusy.Code,
			Message: errBusy.Message, RequestID: problem.RequestID(c)})
	}
	return err
}
