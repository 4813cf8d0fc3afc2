package attention

import (
	"context"
	"fmt"
	"time"

	"github.com/flowrun/flowrun/internal/os/diskspace"
)

const gib = 1 << 30

// disk finds a state directory whose file system is nearly full: a history that cannot be written stops every run.
func (f *search) disk(context.Context) error {
	free, size, ok := diskspace.Free(f.StateDir)
	least := f.MinFree
	if least == 0 {
		least = min(gib, size/20)
	}
	if !ok || free >= least {
		return nil
	}
	f.add(Item{Kind: Disk, Reason: fmt.Sprintf("only %.1f GiB of the file system of %s are free, less than %.1f GiB", float64(free)/gib, f.StateDir, float64(least)/gib),
		Do: "flowrun history prune --older-than 30d", occasion: "on " + f.now.Format(time.DateOnly)})
	return nil
}
