package clients

import (
	"context"
	"strconv"

	"partnerdeposits/app/platform/audit"
	"partnerdeposits/core/actor"
	"partnerdeposits/core/id"
	depositports "partnerdeposits/ports/deposits"
	ports "partnerdeposits/ports/platform"
)

// EraseDepositText removes metadata, comments, descriptions and files from a deposit; erased is false if it had
// none.
//
// Returns deposit_not_found.
func (s *Service) EraseDepositText(ctx context.Context, depositID id.ID) (erased bool, err error) {
	entry := s.erasure(depositID, audit.DepositEraseText, nil)
	if erased, err = s.deps.Texts.EraseDepositText(ctx, depositID, entry); err != nil {
		return false, err
	}
	files, err := s.eraseFiles(ctx, depositID)
	return erased || files, err
}

// eraseFiles removes the files of a deposit before their records, by which a run after an interruption finds the
// rest.
func (s *Service) eraseFiles(ctx context.Context, depositID id.ID) (erased bool, err error) {
	files, err := s.deps.Files.Files(ctx, depositID)
	if err != nil || len(files) == 0 {
		return false, err
	}
	var ids []id.ID
	for _, f := range files {
		ids = append(ids, f.ID)
	}
	if err := s.deps.Contents.Delete(ctx, ids); err != nil {
		return false, err
	}
	entry := s.erasure(depositID, audit.DepositEraseFiles, map[string]string{"files": strconv.Itoa(len(ids))})
	return true, s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
		if err := s.deps.Files.DeleteRecords(ctx, ids); err != nil {
			return err
		}
		return s.deps.Audit.Append(ctx, entry)
	})
}

// erasure returns the audit entry of an erasure of a deposit's words or files.
func (s *Service) erasure(depositID id.ID, verb audit.Action, detail map[string]string) ports.AuditEntry {
	return audit.NewEntry(s.deps.Entropy, s.deps.Clock.Now(), actor.Staff, verb, id.Deposit.Of(depositID), detail)
}

type TextErasureProgress struct {
	Total  int
	Read   int // The number of deposits that contain no words of people any more.
	Erased int // The number of deposits from which this call of EraseTextOfClient removed words.
}

// after returns the progress of an erasure after another deposit.
func (e TextErasureProgress) after(erased bool) TextErasureProgress {
	if e.Read++; erased {
		e.Erased++
	}
	// Deposits may have been created since the total was counted.
	e.Total = max(e.Total, e.Read)
	return e
}

// EraseTextOfClient removes the words and pictures from every deposit of a client, each in its own transaction; it
// can be repeated after an interruption. The client need not be erased. progress is called before the first deposit
// and after each.
//
// Returns client_not_found, or the error that ended the work, with the progress so far.
func (s *Service) EraseTextOfClient(ctx context.Context, clientID id.ID,
	progress func(TextErasureProgress)) (done TextErasureProgress, err error) {
	if _, err := s.deps.Clients.ClientChangedAt(ctx, clientID); err != nil {
		return done, err
	}
	if done.Total, err = s.deps.Texts.CountDepositsOfClient(ctx, clientID); err != nil {
		return done, err
	}
	progress(done)
	const pageSize = 100
	for page := (ports.Page{Limit: pageSize}); ; {
		found, err := s.deps.Deposits.Deposits(ctx, depositports.DepositFilter{ClientID: clientID}, page)
		if err != nil {
			return done, err
		}
		for _, d := range found.Items {
			erased, err := s.EraseDepositText(ctx, d.ID)
			if err != nil {
				return done, err
			}
			done = done.after(erased)
			progress(done)
		}
		if page.Cursor = found.Next; found.Next.IsZero() {
			return done, nil
		}
	}
}
