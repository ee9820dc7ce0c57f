package middleware

import (
	"io"
	"net"
	"time"

	"github.com/gofiber/fiber/v2"
)

// Limits for callers that send or receive many bytes. A caller slower than the least rate loses its connection.
const (
	// Least rate, in bytes a second, at which a caller must send a request or receive a response.
	leastRate  = 20_000
	leastAfter = 5 * time.Second // Longest time without a byte at the beginning of a transfer.
	// Longest time without a byte later in a transfer, for a caller that was faster than the least rate so far.
	leastCredit = 30 * time.Second

	// Bytes of a response that the operating system buffers for a slow reader; they count as received by the caller.
	systemBuffer = 64 << 10
	// The most bytes of a slow response that are written to the connection at once.
	pacedPiece = 32 << 10
)

// MinRateGuard checks that a caller sends or receives at the least rate. Left is how long the caller may take for its
// next bytes.
type MinRateGuard struct{ Left time.Duration }

// NewMinRateGuard returns the Pace of a caller whose transfer has just begun.
func NewMinRateGuard() MinRateGuard { return MinRateGuard{leastAfter} }

// RecordBytes records that the caller took the given time to send or receive the given number of bytes, and updates the
// time left for its next ones.
func (p *MinRateGuard) RecordBytes(bytes int, took time.Duration) {
	p.Left = min(p.Left-took+time.Duration(bytes)*time.Second/leastRate, leastCredit)
}

// SendBodyWithMinRate answers with a streamed body that the caller must receive at the least rate. size is the length
// of the body, negative if unknown. The server closes the body once the caller has received it or has disconnected.
func SendBodyWithMinRate(c *fiber.Ctx, body io.ReadCloser, size int) {
	conn := c.Context().Conn()
	if sized, ok := conn.(interface{ SetWriteBuffer(int) error }); ok {
		_ = sized.SetWriteBuffer(systemBuffer)
	}
	c.Context().SetBodyStream(&minRateBody{ReadCloser: body, conn: conn, pace: NewMinRateGuard(), size: max(size, 0)},
		size)
}

// minRateBody is a response body that the caller must receive at the least rate.
type minRateBody struct {
	io.ReadCloser
	conn  net.Conn
	pace  MinRateGuard
	size  int
	given int // Number of bytes in the piece of the response that was written last.
	at    time.Time
}

// taken records the bytes that were written last as received: the server asks for more once they are in the
// system's buffer.
func (p *minRateBody) taken() {
	if p.given > 0 {
		p.pace.RecordBytes(p.given, time.Since(p.at))
	}
}

func (p *minRateBody) giving(n int) {
	p.given, p.at = n, time.Now()
	// Each piece of the response gets a write deadline of its own; the deadline of other responses covers their whole
	// body.
	_ = p.conn.SetWriteDeadline(p.at.Add(p.pace.Left))
}

// Read returns the next bytes of a response body of unknown length, and sets the deadline by which the caller must
// receive them.
func (p *minRateBody) Read(b []byte) (int, error) {
	p.taken()
	n, err := p.ReadCloser.Read(b)
	p.giving(n)
	return n, err
}

// WriteTo writes a response body of known length in pieces, each with a deadline by which the caller must receive
// it.
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
