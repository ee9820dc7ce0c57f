package sdk_test

import (
	"bufio"
	"context"
	"encoding/json"
	"io"
	"log/slog"
	"os"
	"testing"

	"github.com/stretchr/testify/require"

	"partnerdeposits/lab/procs"
)

// driver is a running library that performs cases which come line by line.
type driver struct {
	t      testing.TB
	in     io.Writer
	out    *bufio.Reader
	called map[string]bool // names of methods
}

// outcome is what a case has come to.
type outcome struct {
	Value   json.RawMessage
	Refused bool
	Error   *struct {
		Reason, Hint, Code, RequestID, Message string
		Status                                 int
		Connection                             bool
	}
}

// serve starts the driver of a language against an address of the API.
func (l language) serve(t testing.TB, apiURL, key string) *driver {
	t.Helper()
	cmd := l.command(context.Background(), t, sdk(), "--serve") // it ends with its input, after the test
	cmd.Env = append(os.Environ(), "API_URL="+apiURL, "API_KEY="+key, "RETRY_DELAY=0.02")
	in, err := cmd.StdinPipe()
	require.NoError(t, err)
	out, err := cmd.StdoutPipe()
	require.NoError(t, err)
	stderr := &procs.OutputBuffer{}
	cmd.Stderr = stderr
	require.NoError(t, cmd.Start())
	t.Cleanup(func() {
		_ = in.Close()
		err := cmd.Wait()
		if t.Failed() {
			t.Logf("the driver said: %s", stderr.String())
		}
		require.NoError(t, err, "the driver ends in order")
	})
	return &driver{t: t, in: in, out: bufio.NewReaderSize(out, 1<<20), called: map[string]bool{}}
}

// do performs a case.
func (d *driver) do(kind string, input any) outcome {
	d.t.Helper()
	if c, ok := input.(call); ok {
		d.called[c.Call] = true
		if c.Args == nil {
			c.Args = []any{}
			input = c
		}
	}
	line, err := json.Marshal(map[string]any{"kind": kind, "input": input})
	require.NoError(d.t, err)
	_, err = d.in.Write(append(line, '\n'))
	require.NoError(d.t, err)
	answer, err := d.out.ReadBytes('\n')
	require.NoError(d.t, err, "%s %s", line, answer)
	var o outcome
	require.NoError(d.t, json.Unmarshal(answer, &o), string(answer))
	return o
}

// call is a call of the API's client.
type call struct {
	Call    string         `json:"call"`
	Args    []any          `json:"args"`
	Options map[string]any `json:"options,omitempty"`
	Take    int            `json:"take,omitempty"`
}

// must performs a call that succeeds, and reads its value.
func (d *driver) must(into any, name string, args ...any) {
	d.t.Helper()
	d.mustCall(into, call{Call: name, Args: args})
}

func (d *driver) mustCall(into any, c call) {
	d.t.Helper()
	o := d.do("call", c)
	require.Nil(d.t, o.Error, "%s: %+v", c.Call, o.Error)
	require.False(d.t, o.Refused, c.Call)
	if into != nil {
		require.NoError(d.t, json.Unmarshal(o.Value, into), string(o.Value))
	}
}

// fails performs a call that the API refuses.
func (d *driver) fails(status int, code, name string, args ...any) {
	d.t.Helper()
	o := d.do("call", call{Call: name, Args: args})
	require.NotNil(d.t, o.Error, "%s: %s", name, o.Value)
	require.Equal(d.t, status, o.Error.Status)
	require.Equal(d.t, code, o.Error.Code)
	require.Regexp(d.t, "^req_", o.Error.RequestID)
}

// text performs a case whose value is a text.
func (d *driver) text(kind string, input any) (value string) {
	d.t.Helper()
	o := d.do(kind, input)
	require.Nil(d.t, o.Error, "%s: %+v", kind, o.Error)
	require.NoError(d.t, json.Unmarshal(o.Value, &value), string(o.Value))
	return value
}

// discard is for servers whose connections are cut on purpose.
var discard = slog.NewLogLogger(slog.DiscardHandler, slog.LevelError)

func idOf(t testing.TB, o outcome) string {
	t.Helper()
	var made struct{ ID string }
	require.NoError(t, json.Unmarshal(o.Value, &made), string(o.Value))
	return made.ID
}
