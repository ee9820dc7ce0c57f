package middleware

import (
	"io"
	"net"
	"time"

	"github.com/gofiber/fiber/v2"
)

// The least rate of whoever sends or takes many bytes. A caller that is slower loses its connection.
const (
	leastRate   = 20_000           // bytes a second
	leastAfter  = 5 * time.Second  // without a byte
	leastCredit = 30 * time.Second // without a byte, for who was faster before

	systemBuffer = 64 << 10 // bytes that the system keeps for a reader: they count as taken
	pacedPiece   = 32 << 10 // bytes that are given at once
)

// Pace holds a caller to the least rate. Left is how long it may take for its next bytes.
type Pace struct{ Left time.Duration }

// NewPace is the pace of a caller that begins.
func NewPace() Pace { return Pace{leastAfter} }

// Passed counts bytes for which the caller took so long.
func (p *Pace) Passed(bytes int, took time.Duration) {
	p.Left = min(p.Left-took+time.Duration(bytes)*time.Second/leastRate, leastCredit)
}

// SendPaced answers with a body that the caller takes at the least rate. size is its length, below 0 if nobody knows.
// The server closes the body once the caller has taken it, or went away.
func SendPaced(c *fiber.Ctx, body io.ReadCloser, size int) {
	conn := c.Context().Conn()
	if sized, ok := conn.(interface{ SetWriteBuffer(int) error }); ok {
		_ = sized.SetWriteBuffer(systemBuffer)
	}
	c.Context().SetBodyStream(&paced{ReadCloser: body, conn: conn, pace: NewPace(), size: max(size, 0)}, size)
}

// paced is a body that is taken at the least rate.
type paced struct {
	io.ReadCloser
	conn  net.Conn
	pace  Pace
	size  int
	given int // bytes that were given last
	at    time.Time
}

// taken counts what was given last: the server asks for more once it is with the system.
func (p *paced) taken() {
	if p.given > 0 {
		p.pace.Passed(p.given, time.Since(p.at))
	}
}

func (p *paced) giving(n int) {
	p.given, p.at = n, time.Now()
	_ = p.conn.SetWriteDeadline(p.at.Add(p.pace.Left)) // the deadline of other answers is for their whole body
}

// Read implements io.Reader, for a body of unknown length.
func (p *paced) Read(b []byte) (int, error) {
	p.taken()
	n, err := p.ReadCloser.Read(b)
	p.giving(n)
	return n, err
}

// WriteTo implements io.WriterTo, for a body of known length.
func (p *paced) WriteTo(w io.Writer) (int64, error) {
	return io.Copy(writerFunc(func(b []byte) (n int, err error) {
		for n < len(b) && err == nil {
			piece := b[n:min(len(b), n+pacedPiece)]
			p.taken()
			p.giving(len(piece))
			var wrote int
			wrote, err = w.Write(piece)
			n += wrote
		}
		return n, err
	}), p.ReadCloser)
}

type writerFunc func([]byte) (int, error)

// Write implements io.Writer.
func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
