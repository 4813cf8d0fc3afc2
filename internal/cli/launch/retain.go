package launch

import (
	"context"
	"errors"
	"os"
	"path/filepath"
	"time"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/engine/artifact"
	"github.com/flowrun/flowrun/internal/engine/rundir"
	"github.com/flowrun/flowrun/internal/service/config"
	"github.com/flowrun/flowrun/internal/store/sqlite"
)

// ApplyRetention removes runs that exceed the limits in the settings, after a run. Usually it only
// reads the list of runs; it measures what is on disk at most once every ten minutes. Errors
// are reported but do not fail the run.
func ApplyRetention(ctx context.Context, env *ui.Env, s sqlite.Retention, c *config.Config) {
	older, _ := config.Age(c.Word("history.older-than")) // validated when the settings were loaded
	p := sqlite.Policy{Routine: true, Keep: int(c.Number("history.keep")), OlderThan: older, MaxSize: c.Number("history.max-size")}
	dir, err := ui.StateDir()
	if err != nil || p.Keep == 0 && p.OlderThan == 0 && p.MaxSize == 0 {
		return
	}
	if p.MaxSize > 0 && !measureDue(filepath.Join(dir, "history.measured")) {
		p.MaxSize = 0
	}
	if due, err := s.Due(ctx, p); err != nil || !due {
		if err != nil {
			env.Notef("cannot prune the history: %v", err)
		}
		return
	}
	p.Files = rundir.Kept{StateDir: dir}
	removed, err := s.Prune(ctx, p)
	if len(removed.IDs) > 0 {
		_, bad := artifact.Prune(dir, time.Now())
		err = errors.Join(err, bad)
	}
	if err != nil {
		env.Notef("cannot prune the history: %v", err)
	}
}

// measureInterval is how often the size of the history is measured. Measuring reads the size of every
// file of every run.
const measureInterval = 10 * time.Minute

// measureDue reports whether it is time to measure again. If so, it updates the modification time of
// the stamp file.
func measureDue(stamp string) bool {
	if st, err := os.Stat(stamp); err == nil && time.Since(st.ModTime()) < measureInterval && time.Since(st.ModTime()) >= 0 {
		return false
	}
	return os.WriteFile(stamp, nil, 0o600) == nil && os.Chtimes(stamp, time.Now(), time.Now()) == nil
}
