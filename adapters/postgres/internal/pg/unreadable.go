package pg

import (
	"context"
	"errors"

	"github.com/jackc/pgx/v5"

	"partnerdeposits/core/id"
)

// IsUnreadableRow reports whether an error means that a row has a value that cannot be read.
func IsUnreadableRow(err error) bool {
	var odd pgx.ScanArgError
	return errors.As(err, &odd)
}

// BadValueError makes the error of a column whose value has the right type but cannot be read.
func BadValueError(column string, err error) error {
	return pgx.ScanArgError{FieldName: column, Err: err}
}

func (d DB) ReportUnreadableRow(ctx context.Context, table string, rowID id.ID, err error) {
	if d.Unreadable != nil {
		d.Unreadable(ctx, table, rowID, err)
	}
}

// ReadRows returns the rows of a query. odd is called with what could be read of an unreadable row, which stays
// among the rows.
func ReadRows[T any](ctx context.Context, d DB, scan pgx.RowToFunc[T], odd func(*T, error), sql string,
	args ...any) ([]T, error) {
	rows, err := d.Query(ctx, sql, args...)
	if err != nil {
		return nil, err
	}
	all, err := pgx.CollectRows(rows, scan)
	if !IsUnreadableRow(err) {
		return all, Translate(err)
	}
	if rows, err = d.Query(ctx, sql, args...); err != nil {
		return nil, err
	}
	all, err = pgx.CollectRows(rows, func(pgx.CollectableRow) (T, error) {
		item, err := scan(columnwiseRow{rows})
		if IsUnreadableRow(err) {
			odd(&item, err)
			err = nil
		}
		return item, err
	})
	return all, Translate(err)
}

// columnwiseRow is a row whose Scan reads every column that can be read.
type columnwiseRow struct{ pgx.Rows }

func (r columnwiseRow) Scan(dest ...any) (first error) {
	values := r.RawValues()
	for i, f := range r.FieldDescriptions() {
		err := r.Conn().TypeMap().Scan(f.DataTypeOID, f.Format, values[i], dest[i])
		if err != nil && first == nil {
			first = BadValueError(f.Name, err)
		}
	}
	return first
}
