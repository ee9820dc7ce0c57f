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

// EraseDepositText removes the words and pictures of people from a deposit: its metadata, the comments and descriptions
// of its history, and its files. The audit log tells how many rows lost words, and how many files went. erased is false
// for a deposit without any.
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

// eraseFiles removes the contents first: an erasure that is cut off finds the rest by the records.
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
		if err := s.deps.Files.Forget(ctx, ids); err != nil {
			return err
		}
		return s.deps.Audit.Append(ctx, entry)
	})
}

// erasure is the audit entry of an erasure.
func (s *Service) erasure(depositID id.ID, verb audit.Verb, detail map[string]string) ports.AuditEntry {
	return audit.Entry(s.deps.Entropy, s.deps.Clock.Now(), actor.Staff, verb, id.Deposit.Of(depositID), detail)
}

// TextErasure is how far EraseTextOfClient is, counted in deposits.
type TextErasure struct {
	Total  int // deposits of the client
	Read   int // those that hold no words of people any more
	Erased int // those that lost words in this call
}

// after is the progress after another deposit.
func (e TextErasure) after(erased bool) TextErasure {
	if e.Read++; erased {
		e.Erased++
	}
	e.Total = max(e.Total, e.Read) // a deposit may have come meanwhile
	return e
}

// EraseTextOfClient is EraseDepositText for every deposit of a client, erased or not, a transaction each. progress
// hears of the work before the first deposit and after each. A call that was interrupted is repeated: deposits without
// words are passed over.
//
// Returns client_not_found, or the error that ended the work, beside the work that is done.
func (s *Service) EraseTextOfClient(ctx context.Context, clientID id.ID,
	progress func(TextErasure)) (done TextErasure, err error) {
	if _, err := s.deps.Clients.ClientChangedAt(ctx, clientID); err != nil {
		return done, err
	}
	if done.Total, err = s.deps.Texts.DepositsOfClient(ctx, clientID); err != nil {
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
