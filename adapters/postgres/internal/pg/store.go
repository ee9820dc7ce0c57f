package pg

import "context"

type StoreBase struct {
	DB     DB
	Sealer TextCipher
}

type txKey struct{}

// WithTx returns a context that carries a transaction, for In.
func WithTx(ctx context.Context, t *Tx) context.Context { return context.WithValue(ctx, txKey{}, t) }

// HasTx reports whether a context carries an open transaction.
func HasTx(ctx context.Context) bool {
	t, inside := ctx.Value(txKey{}).(*Tx)
	return inside && !t.ended
}

// In returns the transaction of a context. It panics without an open one, since a statement would otherwise
// commit alone.
func In(ctx context.Context) *Tx {
	t, inside := ctx.Value(txKey{}).(*Tx)
	if !inside || t.ended {
		panic("postgres: a statement of a transaction runs outside of one")
	}
	return t
}
