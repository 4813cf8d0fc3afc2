package doctor

import (
	"context"
	"errors"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/cli/launch"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/lang/plural"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/proc"
	"github.com/flowrun/flowrun/internal/service/timetable"
)

// checkSettings reads the settings files.
func checkSettings() []finding {
	c, err := ui.LoadSettings(false)
	var files []string
	for _, f := range c.Files {
		if f.Exists {
			files = append(files, f.Path)
		}
	}
	var found tool.Diagnostics
	var list []finding
	switch {
	case errors.As(err, &found) && found.Err() != nil:
		list = append(list, failed("settings", "for their locations: flowrun config list", "%s: %s", plural.Of(len(found), "problem"), found[0]))
	case err != nil:
		list = append(list, failed("settings", "", "%v", err))
	case len(files) == 0:
		list = append(list, passed("settings", "no settings files; the defaults apply"))
	default:
		list = append(list, passed("settings", "%s", strings.Join(files, ", ")))
	}
	if keys := c.Trust.Ignored(); len(keys) > 0 {
		list = append(list, warning("settings", "to trust the project: flowrun trust", "%s of %s are ignored: the project is not trusted", strings.Join(keys, ", "), c.Trust.Folder))
	}
	return list
}

// checkState checks the state directory (history and logs) and who can access it.
func checkState() []finding {
	dir, err := ui.StateDir()
	if dir == "" {
		return []finding{failed("state", "set HOME or FLOWRUN_STATE_DIR", "%v", err)}
	}
	refused := err
	info, err := os.Stat(dir)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return []finding{missingStateDir(dir)}
	case err != nil:
		return []finding{failed("state", "fix this, or set FLOWRUN_STATE_DIR", "%v", err)}
	case !info.IsDir():
		return []finding{failed("state", "move it away, or set FLOWRUN_STATE_DIR", "%s is not a folder", dir)}
	}
	list := []finding{passed("state", "%s", dir)}
	if refused != nil {
		list[0] = failed("state", "", "%v", refused)
	} else if err := probeWrite(dir); err != nil {
		list[0] = failed("state", "change its owner or permissions, or set FLOWRUN_STATE_DIR", "cannot write to %s: %v", dir, err)
	}
	files := []string{dir, filepath.Join(dir, "runs")}
	for _, name := range []string{"history.db", "history.db-wal", "history.db-shm", "history.id", "history.lock"} {
		files = append(files, filepath.Join(dir, name))
	}
	return append(list, checkPrivate("rights", files)...)
}

// missingStateDir returns the finding for a state directory that does not exist yet.
func missingStateDir(dir string) finding {
	parent := filepath.Dir(dir)
	for parent != filepath.Dir(parent) {
		if _, err := os.Stat(parent); err == nil {
			break
		}
		parent = filepath.Dir(parent)
	}
	if err := probeWrite(parent); err != nil {
		return failed("state", "set FLOWRUN_STATE_DIR to a folder that you can write to", "%s does not exist and cannot be created: %v", dir, err)
	}
	f := passed("state", "%s does not exist yet; the first run creates it", dir)
	f.fix = func() error { return os.MkdirAll(dir, 0o700) }
	return f
}

// maxWAL is the largest healthy size of the write-ahead log. A larger one means that no
// checkpoint has completed for a long time, for example because of a permanent reader.
const maxWAL = 256 << 20

// checkHistory checks the integrity of the history.
func checkHistory(env *ui.Env) (list []finding) {
	err := env.ReadHistory(func(ctx context.Context, s ui.History) error {
		stop := env.Elapsed("reading the whole history")
		h, err := s.File().Check(ctx)
		stop()
		switch {
		case err != nil:
			return err
		case h.Version == 0:
			list = append(list, passed("history", "no run is recorded yet"))
		case len(h.Problems) > 0:
			list = append(list, failed("history", "stop all flowrun processes, then recover what is readable: sqlite3 history.db .recover", "history.db is damaged: %s", strings.Join(h.Problems, "; ")))
		default:
			list = append(list, passed("history", "ok; version %d, %s", h.Version, ui.FormatBytes(h.Size)))
		}
		if h.WAL > maxWAL {
			list = append(list, warning("history", "stop the oldest flowrun process that reads the history; then flowrun history prune reduces it", "the write-ahead log has grown to %s", ui.FormatBytes(h.WAL)))
		}
		newest, err := s.Runs(ctx, history.Query{Limit: 1})
		if err == nil && len(newest) > 0 && time.Until(newest[0].Started) > time.Minute {
			list = append(list, warning("clock", "set the clock", "run %s started in the future, at %s: the clock was set back", newest[0].ID, newest[0].Started.Format(time.RFC3339)))
		}
		return err
	})
	if err != nil {
		list = append(list, failed("history", "", "%v", err))
	}
	return list
}

// checkRuns reports interrupted runs, and the processes and log folders that they left.
func checkRuns(env *ui.Env) (list []finding) {
	env.ReadHistory(func(ctx context.Context, s ui.History) error { // checkHistory reports errors
		found, err := s.Runs(ctx, history.Query{Status: []dag.Status{dag.Interrupted}})
		if err != nil {
			return err
		}
		var ids []string
		for _, r := range found {
			ids = append(ids, r.ID)
		}
		if len(ids) == 0 {
			list = append(list, passed("runs", "no interrupted runs"))
			return nil
		}
		list = append(list, warning("runs", "to continue one: flowrun resume RUN; to remove old ones: flowrun history prune", "interrupted: %s", ui.Listed(ids)))
		left, err := proc.StillRunning(ids)
		if err == nil && len(left) > 0 {
			list = append(list, warning("processes", "flowrun resume stops them before it continues their runs", "interrupted runs left processes running: %s", proc.Names(left)))
		}
		return nil
	})
	if n := orphanLogs(env); n > 0 {
		list = append(list, warning("logs", "flowrun history prune --older-than 30d removes them, along with runs of that age", "%d log folders do not belong to a run in the history", n))
	}
	return list
}

// checkAttention reports what needs a person.
func checkAttention(env *ui.Env) (list []finding) {
	env.ReadHistory(func(ctx context.Context, s ui.History) error { // checkHistory reports errors
		for _, i := range launch.FindAttention(ctx, env, s) {
			list = append(list, warning("attention", i.Do, "%s: %s", i.Kind, i.What()))
		}
		if len(list) == 0 {
			list = append(list, passed("attention", "nothing needs a person"))
		}
		return nil
	})
	return list
}

// orphanLogs counts the log folders whose run is not in the history.
func orphanLogs(env *ui.Env) (n int) {
	dir, err := ui.StateDir()
	if err != nil {
		return 0
	}
	entries, _ := os.ReadDir(filepath.Join(dir, "runs"))
	env.ReadHistory(func(ctx context.Context, s ui.History) error {
		for _, e := range entries {
			info, err := e.Info()
			if err != nil || !e.IsDir() || time.Since(info.ModTime()) < time.Hour { // a young folder may belong to a run that is just starting
				continue
			}
			if _, err := s.Info(ctx, e.Name()); errors.Is(err, history.ErrNoRun) {
				n++
			}
		}
		return nil
	})
	return n
}

// checkScheduler reports whether a process fires the schedules.
func checkScheduler(env *ui.Env) (list []finding) {
	err := env.ReadHistory(func(ctx context.Context, s ui.History) error {
		t, err := timetable.Read(ctx, s.Schedules(), env.Library())
		switch {
		case err != nil:
			return err
		case len(t.Entries) == 0:
			list = append(list, passed("scheduler", "no schedules"))
		case !ui.SchedulerRunning():
			list = append(list, warning("scheduler", ui.StartSchedulerHint, "no scheduler is running: %s will not fire", plural.Of(len(t.Entries), "schedule")))
		default:
			list = append(list, passed("scheduler", "running"))
		}
		for _, e := range t.All() {
			if text := e.MissingTool(); text != "" {
				problem, fix, _ := strings.Cut(text, "; ")
				list = append(list, failed("scheduler", fix, "%s", problem))
			}
		}
		return nil
	})
	if err != nil {
		return nil // checkHistory reports why
	}
	return list
}
