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

// Inside reports whether a context carries a transaction that has not ended.
func Inside(ctx context.Context) bool {
	t, inside := ctx.Value(txKey{}).(*Tx)
	return inside && !t.ended
}

// In gives the transaction of a context (ports.UnitOfWork). In panics without one, and after its end: a statement that
// must commit with others would otherwise commit alone, or run on a connection that serves somebody else by then.
func In(ctx context.Context) *Tx {
	t, inside := ctx.Value(txKey{}).(*Tx)
	if !inside || t.ended {
		panic("postgres: a statement of a transaction runs outside of one")
	}
	return t
}
