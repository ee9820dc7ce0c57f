package files

import (
	"bufio"
	"errors"
	"image"
	"io"
	"os"
)

// upright rotates and mirrors a picture according to its Exif orientation (1 to 8).
func upright(picture image.Image, turn int) (image.Image, error) {
	if turn <= 1 || turn > 8 {
		return picture, nil
	}
	var planes []*plane
	switch p := picture.(type) {
	case *image.YCbCr:
		planes = planesOf(p)
	case *image.NYCbCrA:
		b := p.Bounds()
		planes = append(planesOf(&p.YCbCr), &plane{&p.A, &p.AStride, b.Dx(), b.Dy(), 1})
	case *image.Gray:
		planes = []*plane{{&p.Pix, &p.Stride, p.Rect.Dx(), p.Rect.Dy(), 1}}
	case *image.RGBA:
		planes = []*plane{{&p.Pix, &p.Stride, p.Rect.Dx(), p.Rect.Dy(), 4}}
	case *image.NRGBA:
		planes = []*plane{{&p.Pix, &p.Stride, p.Rect.Dx(), p.Rect.Dy(), 4}}
	case *image.CMYK:
		planes = []*plane{{&p.Pix, &p.Stride, p.Rect.Dx(), p.Rect.Dy(), 4}}
	default:
		return nil, errors.New("files: a picture of an unknown kind")
	}
	// Every Exif orientation is made of a transposition (or none) followed by mirroring.
	across := turn >= 5
	horizontally := map[int]bool{2: true, 3: true, 6: true, 7: true}[turn]
	vertically := map[int]bool{3: true, 4: true, 7: true, 8: true}[turn]
	for _, p := range planes {
		if across {
			if err := p.transpose(); err != nil {
				return nil, err
			}
		}
		if horizontally {
			p.mirrorRows()
		}
		if vertically {
			p.swapRows()
		}
	}
	if across {
		transposeBounds(picture)
	}
	return picture, nil
}

func transposeBounds(picture image.Image) {
	turned := func(r *image.Rectangle) { *r = image.Rect(0, 0, r.Dy(), r.Dx()) }
	ratio := func(p *image.YCbCr) {
		switch p.SubsampleRatio {
		case image.YCbCrSubsampleRatio422:
			p.SubsampleRatio = image.YCbCrSubsampleRatio440
		case image.YCbCrSubsampleRatio440:
			p.SubsampleRatio = image.YCbCrSubsampleRatio422
		}
		turned(&p.Rect)
	}
	switch p := picture.(type) {
	case *image.YCbCr:
		ratio(p)
	case *image.NYCbCrA:
		ratio(&p.YCbCr)
	case *image.Gray:
		turned(&p.Rect)
	case *image.RGBA:
		turned(&p.Rect)
	case *image.NRGBA:
		turned(&p.Rect)
	case *image.CMYK:
		turned(&p.Rect)
	}
}

// planesOf returns the luma and chroma planes of a picture; subsampling 4:1:1 and 4:1:0 become 4:2:0, in which
// a JPEG is written anyway.
func planesOf(p *image.YCbCr) []*plane {
	w, h := p.Rect.Dx(), p.Rect.Dy()
	if p.SubsampleRatio == image.YCbCrSubsampleRatio411 || p.SubsampleRatio == image.YCbCrSubsampleRatio410 {
		halve(p)
	}
	cw, ch := w, h
	switch p.SubsampleRatio {
	case image.YCbCrSubsampleRatio422:
		cw = (w + 1) / 2
	case image.YCbCrSubsampleRatio440:
		ch = (h + 1) / 2
	case image.YCbCrSubsampleRatio420:
		cw, ch = (w+1)/2, (h+1)/2
	}
	// Give Cb and Cr a stride each while the planes are transposed; in Go's picture they share one.
	cr := p.CStride
	return []*plane{{&p.Y, &p.YStride, w, h, 1}, {&p.Cb, &cr, cw, ch, 1}, {&p.Cr, &p.CStride, cw, ch, 1}}
}

func halve(p *image.YCbCr) {
	w, h := (p.Rect.Dx()+1)/2, (p.Rect.Dy()+1)/2
	cb, cr := make([]byte, w*h), make([]byte, w*h)
	for y := range h {
		for x := range w {
			at := p.COffset(p.Rect.Min.X+2*x, p.Rect.Min.Y+2*y)
			cb[y*w+x], cr[y*w+x] = p.Cb[at], p.Cr[at]
		}
	}
	p.Cb, p.Cr, p.CStride, p.SubsampleRatio = cb, cr, w, image.YCbCrSubsampleRatio420
}

// plane is a rectangle of samples that is transposed and mirrored as one.
type plane struct {
	pix    *[]byte
	stride *int
	w, h   int
	bytes  int
}

func (p *plane) row(y int) []byte { return (*p.pix)[y**p.stride:][:p.w*p.bytes] }

func (p *plane) mirrorRows() {
	for y := range p.h {
		row := p.row(y)
		for i, j := 0, len(row)-p.bytes; i < j; i, j = i+p.bytes, j-p.bytes {
			for k := range p.bytes {
				row[i+k], row[j+k] = row[j+k], row[i+k]
			}
		}
	}
}

func (p *plane) swapRows() {
	spare := make([]byte, p.w*p.bytes)
	for i, j := 0, p.h-1; i < j; i, j = i+1, j-1 {
		copy(spare, p.row(i))
		copy(p.row(i), p.row(j))
		copy(p.row(j), spare)
	}
}

// columns is the number of columns transposed together: a cache line holds 64 one-byte samples.
const columns = 64

// transpose turns the rows of a plane into columns by way of a temporary file, so that the picture is in memory
// only once.
func (p *plane) transpose() error {
	f, err := newScratch()
	if err != nil {
		return errors.Join(errOwn, err)
	}
	defer func() { _ = f.Close() }()
	if err := p.writeColumns(f); err != nil {
		return errors.Join(errOwn, err)
	}
	if _, err := f.Seek(0, io.SeekStart); err != nil {
		return errors.Join(errOwn, err)
	}
	p.w, p.h = p.h, p.w
	*p.stride = p.w * p.bytes
	if len(*p.pix) < *p.stride*p.h {
		return errors.New("files: a plane is shorter than its picture")
	}
	if _, err := io.ReadFull(f, (*p.pix)[:*p.stride*p.h]); err != nil {
		return errors.Join(errOwn, err)
	}
	return nil
}

func (p *plane) writeColumns(f *os.File) error {
	w := bufio.NewWriterSize(f, 256<<10)
	strip := make([]byte, columns*p.h*p.bytes)
	for x0 := 0; x0 < p.w; x0 += columns {
		n := min(columns, p.w-x0)
		for y := range p.h {
			row := p.row(y)[x0*p.bytes:]
			for x := range n {
				at := (x*p.h + y) * p.bytes
				for k := range p.bytes {
					strip[at+k] = row[x*p.bytes+k]
				}
			}
		}
		if _, err := w.Write(strip[:n*p.h*p.bytes]); err != nil {
			return err
		}
	}
	return w.Flush()
}
