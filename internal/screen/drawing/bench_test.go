package drawing

import (
	"fmt"
	"testing"
)

// BenchmarkPlace places 2,000 steps, each of which waits for up to two shortly before it.
func BenchmarkPlace(b *testing.B) {
	boxes := make([]Box, 2000)
	for i := range boxes {
		boxes[i] = Box{ID: fmt.Sprint("step-", i), Name: fmt.Sprint("step-", i), Kind: "bash"}
		if i > 20 {
			boxes[i].After = []string{boxes[i-1-i*7%min(i, 80)].ID, boxes[i-1-i*13%min(i, 80)].ID}
		}
	}
	b.ReportAllocs()
	for b.Loop() {
		Place(boxes)
	}
}
