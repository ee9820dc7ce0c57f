package operators

import (
	"context"
	"crypto/sha256"
	"encoding/hex"
	"time"

	"partnerdeposits/app/accounts/signin"
	"partnerdeposits/app/platform/audit"
	"partnerdeposits/core/connect"
	"partnerdeposits/core/id"
	accountports "partnerdeposits/ports/accounts"
)

// maxSessions is the most sessions in the list from which an operator ends single sessions.
const maxSessions = 50

type Session struct {
	// Name identifies the session in forms; the token cannot be derived from it.
	Name       string
	Browser    string // The session's browser and system, such as "Firefox, Linux"; "" when unknown.
	CreatedAt  time.Time
	LastSeenAt time.Time // The time of the session's last request, to within some minutes.
	ExpiresAt  time.Time // The time at which the session ends even if it is used until then.
	// This reports whether the session is that of the browser that shows the list.
	This bool
}

// ListSessions lists an operator's active sessions, the last used first, 50 at most; token is that of the present
// browser.
func (s *Service) ListSessions(ctx context.Context, operatorID id.ID, token string) ([]Session, error) {
	all, err := s.deps.Sessions.Sessions(ctx, operatorID, s.deps.Clock.Now(), s.deps.SessionIdle, maxSessions)
	if err != nil {
		return nil, err
	}
	own, _ := signin.TokenHash(token)
	shown := make([]Session, 0, len(all))
	for _, each := range all {
		shown = append(shown, view(each, own))
	}
	return shown, nil
}

// view returns a stored session as its operator sees it. own is the hash of the present browser's token.
func view(s accountports.Session, own [32]byte) Session {
	return Session{
		Name: nameOf(s.TokenHash), Browser: s.Browser, CreatedAt: s.CreatedAt, LastSeenAt: s.LastSeenAt,
		ExpiresAt: s.ExpiresAt,
		This:      s.TokenHash == own,
	}
}

// nameOf returns a name for a session that does not reveal the hash of its token.
func nameOf(tokenHash [32]byte) string {
	sum := sha256.Sum256(append([]byte("session "), tokenHash[:]...))
	return hex.EncodeToString(sum[:12])
}

// EndSession ends the operator's session with this name; an ended session is no error.
func (s *Service) EndSession(ctx context.Context, o connect.Operator, name string) error {
	return s.endSessions(ctx, o, named(name))
}

func (s *Service) EndOtherSessions(ctx context.Context, o connect.Operator, token string) error {
	return s.endSessions(ctx, o, otherThan(token))
}

func named(name string) func(accountports.Session) bool {
	return func(s accountports.Session) bool { return nameOf(s.TokenHash) == name }
}

func otherThan(token string) func(accountports.Session) bool {
	own, _ := signin.TokenHash(token)
	return func(s accountports.Session) bool { return s.TokenHash != own }
}

func (s *Service) endSessions(ctx context.Context, o connect.Operator, ends func(accountports.Session) bool) error {
	now := s.deps.Clock.Now()
	for {
		all, err := s.deps.Sessions.Sessions(ctx, o.ID, now, s.deps.SessionIdle, maxSessions)
		if err != nil {
			return err
		}
		ended := 0
		err = s.deps.UnitOfWork.WithinTx(ctx, func(ctx context.Context) error {
			ended = 0
			for _, session := range all {
				if !ends(session) {
					continue
				}
				ended++
				if err := s.deps.Sessions.DeleteSession(ctx, session.TokenHash); err != nil {
					return err
				}
			}
			if ended == 0 {
				return nil
			}
			return s.audit(ctx, o, audit.OperatorEndSession, now)
		})
		if err != nil || ended == 0 || len(all) < maxSessions {
			return err
		}
	}
}
