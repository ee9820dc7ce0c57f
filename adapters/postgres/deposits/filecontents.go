package deposits

import (
	"context"
	"crypto/aes"
	"crypto/cipher"
	"crypto/rand"
	"encoding/binary"
	"errors"
	"fmt"
	"io"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/adapters/postgres/internal/pg"
	"partnerdeposits/core/evidence"
	"partnerdeposits/core/id"
	"partnerdeposits/core/secret"
)

// chunkBytes is the size of the pieces in which the content of a file is stored: a piece needs little memory, and a
// file few statements.
const chunkBytes = 256 << 10

func (c FileContentStore) Put(ctx context.Context, fileID id.ID, content io.Reader, size int64) error {
	plain := make([]byte, 32) // Each file's content is encrypted with a key of its own, of 32 bytes (AES-256).
	if _, err := rand.Read(plain); err != nil {
		return err
	}
	key, err := c.Sealer.Encrypt(secret.Text(plain), pg.FileKeyAAD(fileID))
	if err != nil {
		return err
	}
	aead, err := aeadOf(plain)
	if err != nil {
		return err
	}
	conn, err := c.DB.Acquire(ctx)
	if err != nil {
		return err
	}
	t := pg.Begin(conn)
	defer t.RollbackIfOpen(ctx)
	if err := queries.InsertFileContent(ctx, t.QueueingTx(), fileID, key); err != nil {
		return err
	}
	buffer, left := make([]byte, chunkBytes), size
	for n := 0; n == 0 || left > 0; n++ {
		piece := buffer[:min(left, chunkBytes)]
		if _, err := io.ReadFull(content, piece); err != nil {
			return fmt.Errorf("postgres: the content of a file ended early: %w", err)
		}
		left -= int64(len(piece))
		if err := queries.InsertFileChunk(ctx, t.QueueingTx(), fileID, n,
			aead.Seal(nil, nonceOf(n, left == 0), piece, nil)); err != nil {
			return err
		}
		if err := t.Flush(ctx); err != nil {
			return err
		}
	}
	if n, _ := content.Read(buffer[:1]); n > 0 {
		return errors.New("postgres: the content of a file is longer than its size")
	}
	return t.Commit(ctx)
}

func (c FileContentStore) Open(ctx context.Context, fileID id.ID) (io.ReadCloser, error) {
	sealed, err := queries.FileContentKey(ctx, c.DB, fileID)
	if err != nil {
		return nil, pg.ReplaceErrNoRows(err, evidence.ErrNotFound)
	}
	plain, err := c.Sealer.Decrypt(sealed, pg.FileKeyAAD(fileID))
	if err != nil {
		return nil, err
	}
	aead, err := aeadOf([]byte(plain.Reveal()))
	if err != nil {
		return nil, err
	}
	return &contentReader{ctx: ctx, db: c.DB, fileID: fileID, aead: aead}, nil
}

func (c FileContentStore) Delete(ctx context.Context, fileIDs []id.ID) error {
	return pg.Translate(queries.DeleteFileContents(ctx, c.DB, fileIDs))
}

func aeadOf(key []byte) (cipher.AEAD, error) {
	block, err := aes.NewCipher(key)
	if err != nil {
		return nil, err
	}
	return cipher.NewGCM(block)
}

// nonceOf returns the nonce of a piece of a file: its number and whether it is the last, so that swapped,
// missing or cut-off pieces do not decrypt.
func nonceOf(n int, last bool) []byte {
	nonce := make([]byte, 12)
	binary.BigEndian.PutUint32(nonce, uint32(n))
	if last {
		nonce[11] = 1
	}
	return nonce
}

// contentReader reads and decrypts the content of a file piece by piece.
type contentReader struct {
	ctx    context.Context
	db     pg.DB
	fileID id.ID
	aead   cipher.AEAD
	n      int
	piece  []byte
	last   bool
}

func (r *contentReader) Read(p []byte) (int, error) {
	for len(r.piece) == 0 {
		if r.last {
			return 0, io.EOF
		}
		if err := r.next(); err != nil {
			return 0, err
		}
	}
	n := copy(p, r.piece)
	r.piece = r.piece[n:]
	return n, nil
}

func (r *contentReader) next() error {
	sealed, err := queries.FileChunk(r.ctx, r.db, r.fileID, r.n)
	if errors.Is(err, pgx.ErrNoRows) {
		return errors.New("postgres: the content of a file has lost its end")
	}
	if err != nil {
		return pg.Translate(err)
	}
	piece, err := r.aead.Open(nil, nonceOf(r.n, false), sealed, nil)
	if err != nil {
		if piece, err = r.aead.Open(nil, nonceOf(r.n, true), sealed, nil); err != nil {
			return errors.New("postgres: a piece of a file does not open")
		}
		r.last = true
	}
	r.piece = piece
	r.n++
	return nil
}

func (r *contentReader) Close() error { return nil }
