package flowrun

import (
	"context"
	"fmt"
	"sync"
	"time"

	"github.com/flowrun/flowrun/internal/proc"
	"github.com/flowrun/flowrun/steps"
)

// sweepGrace is how long what a killed program left may take to end before the first run
// of this one begins. Their own runs give them more, when they are resumed.
const sweepGrace = time.Second

var swept sync.Once

// sweepOnce clears away, once in the life of this program, what others with its StateDir
// left when they were killed: processes, and files with values in the temporary folder.
// That something cannot be cleared away keeps no run from beginning: its own run says so
// when it is resumed, and a run that takes the same locks does.
func sweepOnce(ctx context.Context) {
	swept.Do(func() {
		_, _ = proc.Sweep(ctx, sweepGrace)
		steps.SweepAbandoned()
	})
}

// sweep ends what killed programs have left. The error names what cannot be ended.
func sweep(ctx context.Context, grace time.Duration) error {
	report, err := proc.Sweep(ctx, grace)
	if err == nil && len(report.Escaped) > 0 {
		err = fmt.Errorf("processes of a run whose flowrun was killed cannot be ended, and that run may have held what this one takes: %s; end them yourself", proc.Names(report.Escaped))
	}
	return err
}
