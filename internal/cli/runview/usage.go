package runview

import (
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/screen/console"
)

// CPU returns the CPU time of a step, "" if it started no process.
func CPU(u dag.Usage) string {
	if u.CPU() == 0 {
		return ""
	}
	return console.Short(u.CPU())
}

// Memory returns the peak memory of a step, "" if it is not known.
func Memory(u dag.Usage) string {
	if u.MaxRSS == 0 {
		return ""
	}
	return ui.FormatBytes(u.MaxRSS)
}

// notableCPU is the CPU time from which a drawing shows it.
const notableCPU = time.Second

// usageNote describes what a step used, "" if that is little.
func usageNote(u dag.Usage) string {
	var words []string
	if u.CPU() >= notableCPU {
		words = append(words, CPU(u)+" CPU")
	}
	if u.MaxRSS > 0 {
		words = append(words, Memory(u))
	}
	return strings.Join(words, ", ")
}
