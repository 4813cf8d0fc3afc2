package importer_test

import (
	"testing"
	"time"

	"github.com/flowrun/flowrun/internal/importer"
)

// FuzzRead reads any text in every format: it must not panic, take long or make a definition that cannot be written.
func FuzzRead(f *testing.F) {
	for _, one := range features() {
		f.Add(one.src)
	}
	for _, in := range badInputs() {
		f.Add(in.src)
	}
	f.Fuzz(func(t *testing.T, src string) {
		for _, format := range []string{"cron", "cron --system", "make", "just", "taskfile", "dagu", "github"} {
			start := time.Now()
			r, err := read(format, src)
			if err != nil {
				continue
			}
			for _, one := range r.Tools {
				if _, err := importer.Render(one); err != nil {
					t.Errorf("%s: %v", format, err)
				}
			}
			if d := time.Since(start); d > 20*time.Second { // a loop without end, not a slow machine
				t.Errorf("%s took %s", format, d)
			}
		}
	})
}
