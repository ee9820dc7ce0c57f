package metrics

import ports "partnerdeposits/ports/platform"

// RegisterUnreadableRows registers svc_rows_unreadable_total; the returned function counts an unreadable row of
// a table.
func (r *Registry) RegisterUnreadableRows() (unreadable func(table string)) {
	counter := r.counters("svc_rows_unreadable_total",
		"Times that a row of the database could not be read, and was passed over or answered with an error.", "table")
	for _, table := range ports.APIListedTables {
		counter.WithLabelValues(table)
	}
	return func(table string) { counter.WithLabelValues(table).Inc() }
}
