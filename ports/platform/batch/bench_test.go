package batch_test

import (
	"testing"
	"time"

	"partnerdeposits/ports/platform/batch"
)

// BenchmarkDo measures a call whose batch costs nothing, and a call whose batch costs a round trip of 200 µs.
func BenchmarkDo(b *testing.B) {
	roundTrip := func([]*int) { <-time.After(200 * time.Microsecond) }
	b.Run("alone", func(b *testing.B) {
		q := batch.Queue[*int]{Workers: 2, Limit: 200, Run: func([]*int) {}}
		b.ReportAllocs()
		for b.Loop() {
			q.Do("", new(int))
		}
	})
	for name, q := range map[string]*batch.Queue[*int]{
		"at once":   {Workers: 1, Limit: 256, Run: roundTrip},
		"threshold": {Workers: 4, Limit: 128, Threshold: 48, Run: roundTrip},
		"yield":     {Workers: 2, Limit: 200, Yield: true, Run: roundTrip},
		"linger":    {Workers: 2, Limit: 500, Linger: 5 * time.Millisecond, Run: roundTrip},
	} {
		b.Run(name, func(b *testing.B) {
			b.ReportAllocs()
			b.SetParallelism(128)
			b.RunParallel(func(pb *testing.PB) {
				for pb.Next() {
					q.Do("", new(int))
				}
			})
		})
	}
}
