package deposits

import (
	"context"
	"io"
	"strconv"
	"time"

	"partnerdeposits/app/accounts/signin"
	"partnerdeposits/app/platform/audit"
	"partnerdeposits/app/platform/idempotent"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/deposit"
	"partnerdeposits/core/evidence"
	"partnerdeposits/core/fault"
	"partnerdeposits/core/id"
	depositports "partnerdeposits/ports/deposits"
)

// The files of a deposit are uploaded with a first form and wait. A second form confirms them; only the same
// session can use them.

// recordsWithin is the time limit for storing the records of uploaded files: the upload may have used up its
// request's time.
const recordsWithin = 10 * time.Second

// UploadedFile is a file of a form, as sent.
type UploadedFile struct {
	Name    string
	Size    int64
	Content io.ReadSeeker
}

type RefusedFile struct {
	Name string
	Why  error
}

// CheckedFiles are uploaded files whose content may be stored.
type CheckedFiles struct{ all []checkedFile }

type checkedFile struct {
	name string
	depositports.SanitizedFile
}

func (c *CheckedFiles) Close() {
	for _, f := range c.all {
		_ = f.Content.Close()
	}
}

func (c *CheckedFiles) Len() int { return len(c.all) }

// CheckFiles checks uploaded files by their content. The caller closes the result.
//
// Returns service_unavailable when the context ends first.
func (s *Service) CheckFiles(ctx context.Context, sent []UploadedFile) (*CheckedFiles, []RefusedFile, error) {
	checked, refused := &CheckedFiles{}, []RefusedFile(nil)
	for _, f := range sent {
		kept, err := s.deps.Cleaner.Sanitize(ctx, f.Content, f.Size)
		switch {
		case err == nil:
			checked.all = append(checked.all, checkedFile{f.Name, kept})
		case fault.KindOf(err) == fault.Unprocessable:
			refused = append(refused, RefusedFile{f.Name, err})
		default:
			checked.Close()
			return nil, nil, err
		}
	}
	return checked, refused, nil
}

// NewUploadSession returns the sender of uploaded files: the session of a token, and a deposit.
//
// Returns connect.ErrBadCredentials for a text that is no token.
func NewUploadSession(token string, depositID id.ID) (depositports.UploadSession, error) {
	hash, ok := signin.TokenHash(token)
	if !ok {
		return depositports.UploadSession{}, connect.ErrBadCredentials
	}
	return depositports.UploadSession{Session: hash, DepositID: depositID}, nil
}

// StoreUnconfirmedFiles stores uploaded files for an hour, until their form is confirmed; no page shows them
// before.
func (s *Service) StoreUnconfirmedFiles(ctx context.Context, from depositports.UploadSession,
	checked *CheckedFiles) ([]evidence.File, error) {
	now := s.deps.Clock.Now()
	var files []evidence.File
	for _, f := range checked.all {
		files = append(files, evidence.File{
			ID: s.deps.Entropy.NewID(), DepositID: from.DepositID, Name: evidence.CleanName(f.name, f.Type), Type: f.Type,
			Size: f.Size, SentAt: now,
		})
	}
	if len(files) == 0 {
		return nil, nil
	}
	// A stored content without a record would never be deleted, so write the records first.
	within, cancel := context.WithTimeout(ctx, recordsWithin)
	defer cancel()
	if err := s.deps.Files.InsertUnconfirmed(within, from, files); err != nil {
		return nil, err
	}
	for i, f := range files {
		if err := s.put(ctx, f, checked.all[i].Content); err != nil {
			return nil, err
		}
	}
	return files, nil
}

func (s *Service) put(ctx context.Context, f evidence.File, content io.Reader) error {
	within, cancel := context.WithTimeout(ctx, recordsWithin)
	defer cancel()
	return s.deps.Contents.Put(within, f.ID, content, f.Size)
}

// ListUnconfirmedFiles returns files that wait for confirmation, or evidence.ErrFilesGone unless all of them still do.
func (s *Service) ListUnconfirmedFiles(ctx context.Context, from depositports.UploadSession,
	fileIDs []id.ID) ([]evidence.File, error) {
	if len(fileIDs) == 0 {
		return nil, nil
	}
	files, err := s.deps.Files.UnconfirmedFiles(ctx, from, fileIDs,
		s.deps.Clock.Now().Add(-evidence.UnconfirmedFileLifetime))
	if err == nil && len(files) != len(fileIDs) {
		err = evidence.ErrFilesGone
	}
	return files, err
}

// AddFilesByOperator adds waiting files to a deposit of the account.
//
// Returns deposit_not_found, ErrTakesNoFiles, evidence.ErrFilesGone, evidence.ErrDepositFileLimit, and the errors
// of idempotent.Executor.Run.
func (s *Service) AddFilesByOperator(ctx context.Context, by OperatorCaller, form ActForm, files FilesToAdd) error {
	now := s.deps.Clock.Now()
	_, err := s.deps.Idempotent.Run(ctx, idempotent.Request{
		Key: formKey(by, form.Key,
			append([]string{id.Deposit.Of(form.DepositID), string(ActAddFiles)}, fileNames(files.IDs)...)),
		Now: now,
		Effect: func(ctx context.Context) (idempotent.Response, error) {
			d, err := s.lockOwned(ctx, by, form.DepositID)
			if err != nil {
				return idempotent.Response{}, err
			}
			if err := CheckTakesFiles(d); err != nil {
				return idempotent.Response{}, err
			}
			return formResponse(d.ID), s.addFiles(ctx, by, d, files, now)
		},
	})
	return err
}

// addFiles attaches waiting files to the locked deposit and writes an audit entry.
func (s *Service) addFiles(ctx context.Context, by OperatorCaller, d *deposit.Deposit, files FilesToAdd,
	now time.Time) error {
	if len(files.IDs) == 0 {
		return nil
	}
	files.From.DepositID = d.ID
	since := now.Add(-evidence.UnconfirmedFileLifetime)
	if _, err := s.deps.Files.AttachUnconfirmed(ctx, files.From, files.IDs, since, now, by.Operator.Actor()); err != nil {
		return err
	}
	count := map[string]string{"files": strconv.Itoa(len(files.IDs))}
	return s.deps.Audit.Append(ctx, s.audit(by, now, audit.DepositAddFiles, d.ID, count))
}

// fileNames returns the files' public ids, for a form's fingerprint.
func fileNames(ids []id.ID) (names []string) {
	for _, each := range ids {
		names = append(names, id.File.Of(each))
	}
	return names
}
