package sqlite

import (
	"context"
	"fmt"
	"sync"
	"syscall"
	"testing"
	"time"
)

func cpu() time.Duration {
	var u syscall.Rusage
	syscall.Getrusage(syscall.RUSAGE_SELF, &u)
	return time.Duration(u.Utime.Nano() + u.Stime.Nano())
}

// BenchmarkThousandDue measures what the history needs for one second in which a thousand
// schedules are due.
func BenchmarkThousandDue(b *testing.B) {
	s := openTest(b, b.TempDir())
	book := s.Firings()
	for i := range 1000 {
		if _, err := book.Watch(b.Context(), fmt.Sprint("s", i), "p", noon); err != nil {
			b.Fatal(err)
		}
	}
	c := cpu()
	b.ResetTimer()
	for n := range b.N {
		var work sync.WaitGroup
		for i := range 1000 {
			work.Go(func() {
				id := fmt.Sprint("s", i)
				if _, err := book.CountRuns(b.Context(), id, "schedule:"+id); err != nil {
					b.Error(err)
				}
				if _, err := book.Claim(b.Context(), id, noon.Add(time.Duration(n+1)*time.Second), fmt.Sprint(id, "r", n), time.Time{}); err != nil {
					b.Error(err)
				}
			})
		}
		work.Wait()
		err := s.db.write(b.Context(), "begin the runs", func(ctx context.Context, c *conn) error {
			_, err := c.ExecContext(ctx, "UPDATE firings SET open = 0")
			return err
		})
		if err != nil {
			b.Fatal(err)
		}
	}
	b.ReportMetric(float64((cpu()-c).Milliseconds())/float64(b.N), "cpu-ms/op")
}
