package files

import (
	"bufio"
	"compress/zlib"
	"encoding/binary"
	"errors"
	"hash/crc32"
	"io"

	"partnerdeposits/core/evidence"
)

const (
	pngMark  = "\x89PNG\r\n\x1a\n"
	idatSize = 64 << 10 // The most bytes of a chunk of pixels (IDAT) in a PNG that is written.
	// The most bytes of a PNG's palette.
	maxAside = 768
	hasty    = 64 << 20 // The bytes of pixels above which a PNG is compressed fast rather than well.
)

var errPNG = errors.New("files: no sound PNG")

// writePNG decompresses and compresses the pixels of a PNG again, row by row, so that the picture is never
// whole in memory. All chunks but size, palette, transparency and pixels are dropped.
func writePNG(w io.Writer, from source) error {
	r := bufio.NewReaderSize(from, 64<<10)
	var mark [len(pngMark)]byte
	if _, err := io.ReadFull(r, mark[:]); err != nil || string(mark[:]) != pngMark {
		return errPNG
	}
	p := &pngReader{r: r}
	header, err := p.header()
	if err != nil {
		return err
	}
	passes, err := passesOf(header)
	if err != nil {
		return err
	}
	if _, err := io.WriteString(w, pngMark); err != nil {
		return err
	}
	if err := writeChunk(w, "IHDR", header); err != nil {
		return err
	}
	if err := p.aside(w); err != nil {
		return err
	}
	if err := p.pixels(w, passes); err != nil {
		return err
	}
	return writeChunk(w, "IEND", nil)
}

type pngReader struct {
	r    *bufio.Reader
	kind string
	left uint32
}

func (p *pngReader) next() error {
	var head [8]byte
	if _, err := io.ReadFull(p.r, head[:]); err != nil {
		return err
	}
	p.left, p.kind = binary.BigEndian.Uint32(head[:]), string(head[4:])
	if p.left > evidence.MaxFileSize {
		return errPNG
	}
	return nil
}

func (p *pngReader) skip() error {
	_, err := p.r.Discard(int(p.left) + 4)
	return err
}

func (p *pngReader) whole(most uint32) ([]byte, error) {
	if p.left > most {
		return nil, errPNG
	}
	data := make([]byte, p.left+4)
	if _, err := io.ReadFull(p.r, data); err != nil {
		return nil, err
	}
	data, sum := data[:p.left], binary.BigEndian.Uint32(data[p.left:])
	if crc32.Update(crc32.ChecksumIEEE([]byte(p.kind)), crc32.IEEETable, data) != sum {
		return nil, errPNG
	}
	return data, nil
}

func (p *pngReader) header() ([]byte, error) {
	if err := p.next(); err != nil {
		return nil, err
	}
	if p.kind != "IHDR" || p.left != 13 {
		return nil, errPNG
	}
	return p.whole(13)
}

// aside copies the chunks with the palette and the transparency of a PNG to w.
func (p *pngReader) aside(w io.Writer) error {
	written := map[string]bool{}
	for {
		if err := p.next(); err != nil {
			return err
		}
		switch p.kind {
		case "IDAT":
			return nil
		case "PLTE", "tRNS":
			data, err := p.whole(maxAside)
			if err != nil {
				return err
			}
			if written[p.kind] {
				return errPNG
			}
			written[p.kind] = true
			if err := writeChunk(w, p.kind, data); err != nil {
				return err
			}
		case "IEND":
			return errPNG
		default:
			if err := p.skip(); err != nil {
				return err
			}
		}
	}
}

// Read reads the compressed pixels of a PNG, across its IDAT chunks.
func (p *pngReader) Read(b []byte) (int, error) {
	for p.left == 0 {
		if p.kind != "IDAT" {
			return 0, io.EOF
		}
		// The checksum of the PNG chunk is not needed, since the zlib stream of the pixels has its own.
		if _, err := p.r.Discard(4); err != nil {
			return 0, err
		}
		if err := p.next(); err != nil {
			return 0, err
		}
		if p.kind != "IDAT" {
			return 0, io.EOF
		}
	}
	n, err := p.r.Read(b[:min(len(b), int(p.left))])
	p.left -= uint32(n)
	return n, err
}

func (p *pngReader) pixels(w io.Writer, passes []pass) error {
	unpacked, err := zlib.NewReader(p)
	if err != nil {
		return err
	}
	to := bufio.NewWriterSize(idatChunkWriter{w}, idatSize)
	packed, err := zlib.NewWriterLevel(to, levelFor(passes))
	if err != nil {
		return err
	}
	var filter [1]byte
	for _, pass := range passes {
		for range pass.rows {
			if _, err := io.ReadFull(unpacked, filter[:]); err != nil {
				return err
			}
			if filter[0] > 4 {
				return errPNG
			}
			if _, err := packed.Write(filter[:]); err != nil {
				return err
			}
			if _, err := io.CopyN(packed, unpacked, pass.bytes); err != nil {
				return err
			}
		}
	}
	// Read the compressed pixels to their end, because only then their zlib checksum is checked.
	if n, err := unpacked.Read(filter[:]); n != 0 || !errors.Is(err, io.EOF) {
		return errPNG
	}
	if err := packed.Close(); err != nil {
		return err
	}
	return to.Flush()
}

func levelFor(passes []pass) int {
	bytes := int64(0)
	for _, p := range passes {
		bytes += int64(p.rows) * p.bytes
	}
	if bytes > hasty {
		return zlib.BestSpeed
	}
	return zlib.DefaultCompression
}

// idatChunkWriter writes the bytes of each call as one IDAT chunk of a PNG.
type idatChunkWriter struct{ w io.Writer }

func (i idatChunkWriter) Write(b []byte) (int, error) { return len(b), writeChunk(i.w, "IDAT", b) }

func writeChunk(w io.Writer, kind string, data []byte) error {
	head := append(binary.BigEndian.AppendUint32(nil, uint32(len(data))), kind...)
	sum := crc32.Update(crc32.ChecksumIEEE([]byte(kind)), crc32.IEEETable, data)
	for _, part := range [][]byte{head, data, binary.BigEndian.AppendUint32(nil, sum)} {
		if _, err := w.Write(part); err != nil {
			return err
		}
	}
	return nil
}

// pass is one pass of an interlaced PNG, or the whole picture if it is not interlaced.
type pass struct {
	rows  int
	bytes int64
}

// pngColours lists, for each colour type of a PNG, the samples of a pixel and the permitted bit depths (PNG,
// 11.2.1).
var pngColours = map[byte]struct {
	samples int
	depths  string
}{0: {1, "\x01\x02\x04\x08\x10"}, 2: {3, "\x08\x10"}, 3: {1, "\x01\x02\x04\x08"}, 4: {2, "\x08\x10"},
	6: {4, "\x08\x10"}}

// adam7 lists the seven passes of an interlaced PNG: first column, first row, step between columns, step between
// rows.
var adam7 = [7][4]int{{0, 0, 8, 8}, {4, 0, 8, 8}, {0, 4, 4, 8}, {2, 0, 4, 4}, {0, 2, 2, 4}, {1, 0, 2, 2}, {0, 1, 1, 2}}

// passesOf returns the passes of pixels in a PNG's header, or evidence.ErrTooManyPixels.
func passesOf(header []byte) ([]pass, error) {
	width, height := binary.BigEndian.Uint32(header), binary.BigEndian.Uint32(header[4:])
	if width > 1<<31-1 || height > 1<<31-1 {
		return nil, errPNG
	}
	w, h := int(width), int(height)
	if err := checkSize(w, h); err != nil {
		return nil, err
	}
	colour, known := pngColours[header[9]]
	sound := false
	for i := range len(colour.depths) {
		sound = sound || colour.depths[i] == header[8]
	}
	if !known || !sound || header[10] != 0 || header[11] != 0 || header[12] > 1 {
		return nil, errPNG
	}
	bits := colour.samples * int(header[8])
	of := func(w, h int) pass { return pass{h, (int64(w)*int64(bits) + 7) / 8} }
	if header[12] == 0 {
		return []pass{of(w, h)}, nil
	}
	var passes []pass
	for _, a := range adam7 {
		pw, ph := (w-a[0]+a[2]-1)/a[2], (h-a[1]+a[3]-1)/a[3]
		if pw > 0 && ph > 0 {
			passes = append(passes, of(pw, ph))
		}
	}
	return passes, nil
}
