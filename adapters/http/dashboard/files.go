package dashboard

import (
	"context"
	"errors"
	"io"
	"log/slog"
	"net"
	"net/http"
	"net/url"
	"slices"
	"strings"
	"time"

	"github.com/gofiber/fiber/v2"

	"partnerdeposits/adapters/http/problem"
	"partnerdeposits/adapters/http/ui"
	"partnerdeposits/app/deposits"
	"partnerdeposits/app/deposits/desk"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/evidence"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
)

// fileMistakes checks the content of a form's files and records refused ones as mistakes. The caller closes the
// result.
func (p *pages) fileMistakes(c *fiber.Ctx, u *upload, f *actForm) (*deposits.CheckedFiles, error) {
	if u == nil || !f.takesFiles() {
		return &deposits.CheckedFiles{}, nil
	}
	lang := ui.LangOf(c)
	if u.tooMany || len(u.files)+len(u.refused)+len(f.waiting) > evidence.MaxFilesPerForm {
		f.refuse(lang, refusedFile{Code: tooManyFiles})
		return &deposits.CheckedFiles{}, nil
	}
	checked, refused, err := p.Deposits.CheckFiles(c.UserContext(), u.files)
	if err != nil {
		return checked, err
	}
	for _, r := range slices.Concat(u.refused, refused) {
		f.refuse(lang, refusedFile{Code: fault.FromError(r.Why).Code, Name: evidence.DisplayName(r.Name)})
	}
	return checked, nil
}

// refusedFile is a file that was not accepted; Code is the error code of the reason.
type refusedFile struct{ Code, Name string }

const (
	tooManyFiles = "too_many_files"
	noFile       = "no_file"
)

// refuse records a refused file as a mistake of the form's file field.
func (f *actForm) refuse(lang ui.Lang, r refusedFile) {
	var text string
	switch r.Code {
	case noFile:
		text = textChooseFile.In(lang)
	case tooManyFiles:
		text = textTooManyFiles.In(lang, evidence.MaxFilesPerForm)
	default:
		text = refusedFiles[r.Code].In(lang, r.Name)
	}
	f.refused = append(f.refused, r)
	f.mistakes = append(f.mistakes, ui.Mistake{Field: f.intent + "-" + fieldFiles, Text: text})
}

// keep stores the checked files until the form is confirmed, beside those that the form lists already.
func (p *pages) keep(c *fiber.Ctx, v desk.DepositView, f *actForm, checked *deposits.CheckedFiles) error {
	from, err := deposits.NewUploadSession(p.Site.SessionToken(c), v.ID)
	if err != nil {
		return err
	}
	f.sender = from
	files, err := p.Deposits.StoreUnconfirmedFiles(c.UserContext(), from, checked)
	if err != nil {
		return err
	}
	for _, each := range files {
		f.waiting = append(f.waiting, each.ID)
	}
	return nil
}

// waitingOf returns the ids of waiting files in a form; a text that is no id becomes an id without a file.
func waitingOf(c *fiber.Ctx) (ids []id.ID) {
	for _, value := range c.Request().PostArgs().PeekMulti(fieldWaiting) {
		fileID, _ := id.File.Parse(string(value))
		if !slices.Contains(ids, fileID) {
			ids = append(ids, fileID)
		}
	}
	return ids
}

const (
	// Longest time for a browser to receive one part of a file download.
	downloadPiece = 30 * time.Second
	downloadLimit = time.Hour
)

// download sends a file of a deposit as an attachment, so that a browser neither shows nor runs it.
func (p *pages) download(c *fiber.Ctx, by caller) error {
	depositID, ok := id.Deposit.Parse(c.Params("id"))
	if !ok {
		return deposit.ErrNotFound
	}
	fileID, ok := id.File.Parse(c.Params("fileId"))
	if !ok {
		fileID = id.ID{} // The zero id belongs to no file, so the response is "not found".
	}
	// The request's context ends before the body is sent, so the download has its own.
	ctx, cancel := context.WithTimeout(context.WithoutCancel(c.UserContext()), downloadLimit)
	f, content, err := p.Desk.OpenFile(ctx, by.Account.ID, depositID, fileID)
	if err != nil {
		cancel()
		return err
	}
	ui.SetSecurityHeaders(c)
	c.Set(fiber.HeaderContentSecurityPolicy, "default-src 'none'; frame-ancestors 'none'; form-action 'none'; sandbox")
	c.Set(fiber.HeaderCacheControl, "private, no-store")
	c.Set("Cross-Origin-Resource-Policy", "same-origin")
	c.Set(fiber.HeaderContentType, string(f.Type))
	c.Set(fiber.HeaderContentDisposition, disposition(f.Name))
	log := p.Log.With("request_id", problem.RequestID(c))
	c.Status(http.StatusOK).Context().SetBodyStream(
		&fileBody{from: content, conn: c.Context().Conn(), cancel: cancel, log: log}, int(f.Size))
	return nil
}

// disposition returns the Content-Disposition header with the file's name in ASCII and in full (RFC 6266).
func disposition(name string) string {
	plain := strings.Map(func(r rune) rune {
		if r < ' ' || r > '~' || strings.ContainsRune(`"\%;`, r) {
			return '_'
		}
		return r
	}, name)
	return `attachment; filename="` + plain + `"; filename*=UTF-8''` +
		strings.ReplaceAll(url.QueryEscape(name), "+", "%20")
}

type fileBody struct {
	from   io.ReadCloser
	conn   net.Conn
	cancel context.CancelFunc
	log    *slog.Logger
}

// Read returns the next bytes of the file and sets the browser's deadline to receive them.
func (b *fileBody) Read(p []byte) (int, error) {
	// Each part of the file has its own write deadline; that of other responses covers the whole body.
	_ = b.conn.SetWriteDeadline(time.Now().Add(downloadPiece))
	n, err := b.from.Read(p)
	if err != nil && !errors.Is(err, io.EOF) {
		b.log.Warn("download ended early", "cause", err.Error())
	}
	return n, err
}

func (b *fileBody) Close() error {
	b.cancel()
	return b.from.Close()
}
