package pg

import "context"

// StoreBase holds what the stores of every module need: the database and the encryption of secrets.
type StoreBase struct {
	DB     DB
	Sealer TextCipher
}

type txKey struct{}

// WithTx returns a context that carries a transaction, which the function In takes out of it.
func WithTx(ctx context.Context, t *Tx) context.Context { return context.WithValue(ctx, txKey{}, t) }

// HasTx reports whether a context carries a transaction that has not ended; otherwise false.
func HasTx(ctx context.Context) bool {
	t, inside := ctx.Value(txKey{}).(*Tx)
	return inside && !t.ended
}

// In returns the transaction that a context carries (ports.UnitOfWork). It panics if there is none or if it has
// ended: a statement that must commit with others would otherwise commit alone, or run on a connection that
// another caller uses by then.
func In(ctx context.Context) *Tx {
	t, inside := ctx.Value(txKey{}).(*Tx)
	if !inside || t.ended {
		panic("postgres: a statement of a transaction runs outside of one")
	}
	return t
}
