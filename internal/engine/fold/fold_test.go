package fold

import (
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
)

// TestActiveTime: the time between the end of one owner and a resume does not count.
func TestActiveTime(t *testing.T) {
	at := func(s int) time.Time { return time.Unix(int64(s), 0) }
	r := New[struct{}](Plan{})
	end := &dag.Result{Status: dag.Failed}
	for _, e := range []dag.Event{{Kind: dag.RunStarted, Time: at(0)}, {Kind: dag.RunFinished, Time: at(10), Result: end}, {Kind: dag.RunResumed, Time: at(100)},
		{Kind: dag.RunFinished, Time: at(105), Result: end}, {Kind: dag.RunResumed, Time: at(205)}} {
		r.Apply(&e)
	}
	for _, c := range []struct{ from, to, want int }{{0, 10, 10}, {0, 105, 15}, {5, 210, 15}, {100, 104, 4}, {101, 206, 5}, {205, 206, 1}} {
		if got := r.ActiveTime(at(c.from), at(c.to)); got != time.Duration(c.want)*time.Second {
			t.Errorf("from %d to %d: %v, want %d s", c.from, c.to, got, c.want)
		}
	}
}
