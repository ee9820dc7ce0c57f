package files

import (
	"bytes"
	"compress/zlib"
	"context"
	"runtime/metrics"
	"testing"
	"time"

	"github.com/stretchr/testify/require"

	"partnerdeposits/core/evidence"
	"partnerdeposits/core/fault"
	"partnerdeposits/lab/filestest"
)

// emptyPNG is a sound, black picture of 64 bits a pixel, a thousandth of which is sent.
func emptyPNG(t *testing.T, w, h int) []byte {
	t.Helper()
	var packed bytes.Buffer
	to, err := zlib.NewWriterLevel(&packed, zlib.BestSpeed)
	require.NoError(t, err)
	row := make([]byte, 1+8*w)
	for range h {
		_, err := to.Write(row)
		require.NoError(t, err)
	}
	require.NoError(t, to.Close())
	return bytes.Join([][]byte{
		filestest.PNGHeader(uint32(w), uint32(h), 16, 6, 0), filestest.PNGChunk("IDAT", packed.Bytes()),
		filestest.PNGChunk("IEND", nil),
	}, nil)
}

func (c *Sanitizer) cleans(ctx context.Context, sent []byte) error {
	got, err := c.Sanitize(ctx, bytes.NewReader(sent), int64(len(sent)))
	if err == nil {
		err = got.Content.Close()
	}
	return err
}

func TestClean_EndsAfterTheTimeOfAFile(t *testing.T) {
	t.Parallel()
	for what, sent := range map[string][]byte{
		"a PNG that unpacks to 160 MB":       emptyPNG(t, 8000, 2500),
		"a JPEG whose scans are a few bytes": filestest.ProgressiveJPEG(5700, 5700, 1, 64),
	} {
		c := New()
		c.readFor = 50 * time.Millisecond
		require.ErrorIs(t, c.cleans(t.Context(), sent), evidence.ErrTooCostlyToRead, what)
		require.Empty(t, c.turn, "the turn is given back")
		c.readFor = time.Hour
		ctx, cancel := context.WithTimeout(t.Context(), 50*time.Millisecond)
		require.Equal(t, fault.Unavailable, fault.KindOf(c.cleans(ctx, sent)), "a caller who is gone: %s", what)
		cancel()
	}
}

func TestClean_BesideAHeavyFile_TakesItsTurn(t *testing.T) {
	t.Parallel()
	for what, sent := range map[string][]byte{"PNG": emptyPNG(t, 8000, 2500),
		"JPEG": filestest.ProgressiveJPEG(5700, 5700, 1, 64)} {
		c := New()
		c.readFor = time.Hour
		ctx, stop := context.WithCancel(t.Context())
		heavy := make(chan error, 1)
		go func() { heavy <- c.cleans(ctx, sent) }()
		held := map[string]chan struct{}{"PNG": c.turn, "JPEG": c.large}[what]
		require.Eventually(t, func() bool { return len(held) == 1 }, time.Minute, time.Millisecond)
		require.NoError(t, c.cleans(ctx, emptyPNG(t, 2, 2)))
		require.NoError(t, c.cleans(ctx, filestest.JPEG(t, filestest.ColoredCornersImage(40, 30), 6)))
		require.Empty(t, heavy, "the %s is still being read", what)
		stop()
		require.Error(t, <-heavy)
		require.Empty(t, c.turn)
		require.Empty(t, c.large)
	}
}

func TestClean_OfTwoLargePictures_ReadsOneAfterTheOther(t *testing.T) {
	t.Parallel()
	c := New()
	c.readFor = time.Hour
	first, second := make(chan error, 1), make(chan error, 1)
	c.large <- struct{}{} // a large picture is in memory
	go func() { first <- c.cleans(t.Context(), filestest.ProgressiveJPEG(2200, 2200, 1, 1)) }()
	require.NoError(t, c.cleans(t.Context(), filestest.ProgressiveJPEG(1000, 1000, 1, 1)), "a small one passes")
	require.Empty(t, first)
	go func() { second <- c.cleans(t.Context(), filestest.ProgressiveJPEG(2200, 2200, 1, 1)) }()
	<-c.large
	require.NoError(t, <-first)
	require.NoError(t, <-second)
	require.Empty(t, c.turn)
	require.Empty(t, c.large)
}

// stuck is a large picture whose pixels do not come: its decoder comes back no sooner than one that computes.
type stuck struct {
	*bytes.Reader
	*Sanitizer
	come <-chan struct{}
}

func (s stuck) Read(p []byte) (int, error) {
	if len(s.large) == 1 {
		<-s.come
	}
	return s.Reader.Read(p)
}

// The last steps of a progressive JPEG take seconds and read nothing.
func TestClean_BesideALargePictureThatReadsNothing_GoesOn(t *testing.T) {
	t.Parallel()
	c := New()
	c.readFor = time.Hour
	sent := filestest.ProgressiveJPEG(5700, 5700, 1, 64)
	come, heavy := make(chan struct{}), make(chan error, 1)
	ctx, stop := context.WithCancel(t.Context())
	go func() {
		_, err := c.Sanitize(ctx, stuck{bytes.NewReader(sent), c, come}, int64(len(sent)))
		heavy <- err
	}()
	require.Eventually(t, func() bool { return len(c.large) == 1 }, time.Minute, time.Millisecond)
	small := make(chan error, 1)
	go func() { small <- c.cleans(t.Context(), filestest.JPEG(t, filestest.ColoredCornersImage(40, 30), 6)) }()
	select {
	case err := <-small:
		require.NoError(t, err)
	case <-time.After(time.Minute):
		require.Fail(t, "the small picture waits for the large one")
	}
	stop()
	close(come)
	require.Error(t, <-heavy)
}

// gcPercent of the process.
func gcPercent() uint64 {
	sample := []metrics.Sample{{Name: "/gc/gogc:percent"}}
	metrics.Read(sample)
	return sample[0].Value.Uint64()
}

// Not parallel, since the garbage collector's percentage is global.
func TestClean_BesideALargePicture_TheProcessHasLessGarbage(t *testing.T) {
	c := New()
	percent := gcPercent()
	sent := filestest.ProgressiveJPEG(2200, 2200, 1, 1)
	come, done := make(chan struct{}), make(chan error, 2)
	for range cap(done) { // the second one waits for the first
		go func() {
			_, err := c.Sanitize(t.Context(), stuck{bytes.NewReader(sent), c, come}, int64(len(sent)))
			done <- err
		}()
	}
	require.Eventually(t, func() bool { return len(c.large) == 1 && gcPercent() == gcPercentBeside }, time.Minute,
		time.Millisecond)
	close(come)
	require.NoError(t, <-done)
	require.NoError(t, <-done)
	require.Equal(t, percent, gcPercent())
}
