package main

import (
	"bufio"
	"bytes"
	crand "crypto/rand"
	"encoding/hex"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"net"
	"strconv"
	"strings"
	"sync"
	"time"
)

const (
	prefix      = "/api/partner/v1"
	callTimeout = 30 * time.Second
)

// caller is a connection of the load generator to the API. The generator shares the processors with the service, so a
// call is a single write and, as a rule, a single read, without a layer between.
type caller struct {
	address string // host:port
	conn    net.Conn
	in      *bufio.Reader
	out     []byte
	answer  []byte
	random  *rand.ChaCha8

	mu    sync.Mutex // of conn and ended, for interrupt
	ended bool
}

// request is a call of the API.
type request struct {
	method, path string
	apiKey       string
	body         string
	keyed        bool // with an Idempotency-Key that no other call has
}

func newCaller(base string) *caller {
	var seed [32]byte
	_, _ = crand.Read(seed[:]) // never fails
	return &caller{address: strings.TrimPrefix(base, "http://"), random: rand.NewChaCha8(seed)}
}

func (c *caller) close() {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.conn != nil {
		_ = c.conn.Close()
		c.conn = nil
	}
}

// interrupt ends the call that waits for its response, and every later call. It may be called while a call is under way.
func (c *caller) interrupt() {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.ended = true
	if c.conn != nil {
		_ = c.conn.SetDeadline(time.Now())
	}
}

// do sends a request and reads its response. The answer is valid until the next call.
//
// Returns an error without a response, and for every status other than 2xx.
func (c *caller) do(r request) (answer []byte, err error) {
	if err := c.dial(); err != nil {
		return nil, err
	}
	status, err := c.exchange(r)
	if err != nil {
		c.close()
		return nil, fmt.Errorf("%s %s: %w", r.method, r.path, err)
	}
	if status < 200 || status > 299 {
		return nil, fmt.Errorf("%s %s: %d %s", r.method, r.path, status, c.answer)
	}
	return c.answer, nil
}

var errInterrupted = errors.New("interrupted")

// dial makes a connection unless there is one, and begins the time of the call.
func (c *caller) dial() (err error) {
	c.mu.Lock()
	defer c.mu.Unlock()
	if c.ended {
		return errInterrupted
	}
	if c.conn == nil {
		if c.conn, err = net.Dial("tcp4", c.address); err != nil {
			return err
		}
		c.in = bufio.NewReaderSize(c.conn, 16<<10)
	}
	return c.conn.SetDeadline(time.Now().Add(callTimeout))
}

func (c *caller) exchange(r request) (status int, err error) {
	if _, err := c.conn.Write(c.render(r)); err != nil {
		return 0, err
	}
	return c.read()
}

func (c *caller) render(r request) []byte {
	b := append(c.out[:0], r.method...)
	b = append(b, " "+prefix...)
	b = append(b, r.path...)
	b = append(b, " HTTP/1.1\r\nHost: bench\r\nx-api-key: "...)
	b = append(b, r.apiKey...)
	if r.keyed {
		b = append(b, "\r\nIdempotency-Key: "...)
		b = c.appendUUID(b)
	}
	if r.body != "" {
		b = append(b, "\r\nContent-Type: application/json\r\nContent-Length: "...)
		b = strconv.AppendInt(b, int64(len(r.body)), 10)
	}
	b = append(b, "\r\n\r\n"...)
	c.out = append(b, r.body...)
	return c.out
}

// appendUUID appends a random UUID of version 4.
func (c *caller) appendUUID(b []byte) []byte {
	var id [16]byte
	_, _ = c.random.Read(id[:]) // never fails
	id[6], id[8] = id[6]&0x0f|0x40, id[8]&0x3f|0x80
	for i, part := range [][]byte{id[:4], id[4:6], id[6:8], id[8:10], id[10:]} {
		if i > 0 {
			b = append(b, '-')
		}
		b = hex.AppendEncode(b, part)
	}
	return b
}

var errNoLength = errors.New("a response without Content-Length")

func (c *caller) read() (status int, err error) {
	line, err := c.in.ReadSlice('\n')
	if err != nil {
		return 0, err
	}
	if len(line) < len("HTTP/1.1 200") {
		return 0, fmt.Errorf("not HTTP: %q", line)
	}
	if status, err = strconv.Atoi(string(line[9:12])); err != nil {
		return 0, err
	}
	length, closing := -1, false
	for {
		if line, err = c.in.ReadSlice('\n'); err != nil {
			return 0, err
		}
		name, value, more := bytes.Cut(line, []byte(":"))
		if !more { // the empty line
			break
		}
		switch value = bytes.TrimSpace(value); {
		case bytes.EqualFold(name, []byte("Content-Length")):
			if length, err = strconv.Atoi(string(value)); err != nil {
				return 0, err
			}
		case bytes.EqualFold(name, []byte("Connection")):
			closing = bytes.EqualFold(value, []byte("close"))
		}
	}
	if status == 204 {
		length = 0
	}
	if length < 0 {
		return 0, errNoLength
	}
	if cap(c.answer) < length {
		c.answer = make([]byte, length)
	}
	c.answer = c.answer[:length]
	_, err = io.ReadFull(c.in, c.answer)
	if closing {
		c.close()
	}
	return status, err
}
