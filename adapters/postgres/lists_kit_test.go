package postgres_test

import (
	"encoding/json"
	"testing"

	"github.com/jackc/pgx/v5"
	"github.com/stretchr/testify/require"
)

// maxBlocks bounds the blocks that a statement of a list touches: for each row that is read a block of the table, an
// entry of its index, and the look-up of a link.
const maxBlocks = 5 * maxRead

// rowsRead runs the statements of list again and returns the rows that the costliest of them read from tables. No
// statement may touch more than maxBlocks blocks.
func (s fullStore) rowsRead(t *testing.T, list func() error) int {
	t.Helper()
	return s.rowsReadOf(t, maxBlocks, list)
}

// rowsReadOf is rowsRead with another bound of the blocks.
func (s fullStore) rowsReadOf(t *testing.T, blocks int, list func() error) (most int) {
	t.Helper()
	for _, p := range s.plans(t, list) {
		most = max(most, p.read())
		require.LessOrEqual(t, p.Hit+p.Read, blocks, "blocks")
	}
	return most
}

// plans calls list, repeats its statements under EXPLAIN ANALYZE, and returns their plans.
func (s fullStore) plans(t *testing.T, list func() error) (all []scan) {
	t.Helper()
	s.asked.asked = nil
	require.NoError(t, list())
	for _, asked := range s.asked.asked {
		args := asked.Args
		if len(args) > 0 {
			if _, mode := args[0].(pgx.QueryExecMode); mode {
				args = args[1:]
			}
		}
		var text string
		require.NoError(t,
			s.pool.QueryRow(t.Context(), "EXPLAIN (ANALYZE, BUFFERS, TIMING OFF, FORMAT JSON) "+asked.SQL, args...).Scan(&text))
		var plans []struct{ Plan scan }
		require.NoError(t, json.Unmarshal([]byte(text), &plans))
		all = append(all, plans[0].Plan)
	}
	require.NotEmpty(t, all)
	return all
}

// scan is a node of an executed plan.
type scan struct {
	Relation string  `json:"Relation Name"`
	Rows     float64 `json:"Actual Rows"`
	Loops    float64 `json:"Actual Loops"`
	Filtered float64 `json:"Rows Removed by Filter"`
	Hit      int     `json:"Shared Hit Blocks"`
	Read     int     `json:"Shared Read Blocks"`
	Plans    []scan
}

// read counts the rows that the node and those below read from tables.
func (s scan) read() int {
	n := 0
	if s.Relation != "" {
		n = int((s.Rows + s.Filtered) * s.Loops)
	}
	for _, child := range s.Plans {
		n += child.read()
	}
	return n
}
