package middleware

import (
	"io"
	"net"
	"time"

	"github.com/gofiber/fiber/v2"
)

// A caller that sends or receives many bytes slower than the least rate loses its connection.
const (
	// Least rate, in bytes a second, of a request or response.
	leastRate  = 20_000
	leastAfter = 5 * time.Second
	// Longest time without a byte later, for a caller faster than the least rate so far.
	leastCredit = 30 * time.Second

	// Bytes of a response that the operating system buffers for a slow reader; they count as received.
	systemBuffer = 64 << 10
	// Most bytes of a slow response that are written at once.
	pacedPiece = 32 << 10
)

// MinRateGuard checks that a caller sends or receives at the least rate. Left is how long its next bytes may take.
type MinRateGuard struct{ Left time.Duration }

func NewMinRateGuard() MinRateGuard { return MinRateGuard{leastAfter} }

// RecordBytes records how long the caller took for a number of bytes, and updates the time left for its next ones.
func (p *MinRateGuard) RecordBytes(bytes int, took time.Duration) {
	p.Left = min(p.Left-took+time.Duration(bytes)*time.Second/leastRate, leastCredit)
}

// SendBodyWithMinRate answers with a stream that the caller must receive at the least rate. size is its length,
// negative if unknown. The server closes the body at the end or when the caller has disconnected.
func SendBodyWithMinRate(c *fiber.Ctx, body io.ReadCloser, size int) {
	conn := c.Context().Conn()
	if sized, ok := conn.(interface{ SetWriteBuffer(int) error }); ok {
		_ = sized.SetWriteBuffer(systemBuffer)
	}
	c.Context().SetBodyStream(&minRateBody{ReadCloser: body, conn: conn, pace: NewMinRateGuard(), size: max(size, 0)},
		size)
}

type minRateBody struct {
	io.ReadCloser
	conn  net.Conn
	pace  MinRateGuard
	size  int
	given int // Bytes of the response written last.
	at    time.Time
}

// taken records the last bytes as received: the server asks for more once they are in the system's buffer.
func (p *minRateBody) taken() {
	if p.given > 0 {
		p.pace.RecordBytes(p.given, time.Since(p.at))
	}
}

func (p *minRateBody) giving(n int) {
	p.given, p.at = n, time.Now()
	// Each piece has its own write deadline; that of other responses covers the whole body.
	_ = p.conn.SetWriteDeadline(p.at.Add(p.pace.Left))
}

// Read returns the next bytes of a body of unknown length, and sets the caller's deadline to receive them.
func (p *minRateBody) Read(b []byte) (int, error) {
	p.taken()
	n, err := p.ReadCloser.Read(b)
	p.giving(n)
	return n, err
}

// WriteTo writes a body of known length in pieces, each with a deadline for the caller.
func (p *minRateBody) WriteTo(w io.Writer) (int64, error) {
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

func (f writerFunc) Write(b []byte) (int, error) { return f(b) }
