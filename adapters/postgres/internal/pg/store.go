package pg

import "context"

// Base is what the tables of every module stand on.
type Base struct {
	DB     DB
	Sealer Sealer
}

type txKey struct{}

// With gives a context that carries a transaction.
func With(ctx context.Context, t *Tx) context.Context { return context.WithValue(ctx, txKey{}, t) }

// Inside reports whether a context carries a transaction.
func Inside(ctx context.Context) bool {
	_, inside := ctx.Value(txKey{}).(*Tx)
	return inside
}

// In gives the transaction of a context (ports.UnitOfWork). In panics without one: a statement that must commit with others
// would otherwise commit alone, and nobody would notice.
func In(ctx context.Context) *Tx {
	t, inside := ctx.Value(txKey{}).(*Tx)
	if !inside {
		panic("postgres: a statement of a transaction runs outside of one")
	}
	return t
}
