package timetable

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/lang/cron"
	"github.com/flowrun/flowrun/internal/lang/filestamp"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/os/home"
	"github.com/flowrun/flowrun/internal/screen/console"
	"github.com/flowrun/flowrun/library"
)

// maxExceptFile is the maximum size of a file of except in bytes.
const maxExceptFile = 1 << 20

// exceptFiles returns the files of except. A relative path starts at dir, ~ is the home directory.
func exceptFiles(r *tool.Schedule, dir string) (files []string) {
	for _, e := range r.Except {
		if e.File == nil {
			continue
		}
		path := e.File.S
		if rest, ok := strings.CutPrefix(path, "~/"); ok {
			at, _ := home.Dir() // without one, the file is not found
			path = filepath.Join(at, rest)
		} else if !filepath.IsAbs(path) {
			path = filepath.Join(dir, path)
		}
		files = append(files, path)
	}
	return files
}

// ReadExcept returns the days in a file of except.
func ReadExcept(file string) (cron.Days, error) {
	days, err := readExcept(file)
	if err != nil {
		if bad, ok := errors.AsType[*fs.PathError](err); ok {
			err = bad.Err
		}
		return days, fmt.Errorf("cannot read the days in %s: %w", console.ShortPath(file), err)
	}
	return days, nil
}

func readExcept(file string) (days cron.Days, err error) {
	switch info, err := os.Stat(file); {
	case err != nil:
		return days, err
	case !info.Mode().IsRegular():
		return days, errors.New("it is not a file")
	case info.Size() > maxExceptFile:
		return days, errors.New("it has more than 1 MiB")
	}
	text, err := os.ReadFile(file)
	if err != nil {
		return days, err
	}
	return cron.ParseDayList(string(text))
}

// ExceptProblems returns a diagnostic for each file of except that cannot be read.
func ExceptProblems(def *tool.Definition) (ds tool.Diagnostics) {
	dir := startOf(def)
	for _, r := range def.Schedules {
		for _, e := range r.Except {
			for _, file := range exceptFiles(&tool.Schedule{Except: []*tool.Except{e}}, dir) {
				if _, err := ReadExcept(file); err != nil {
					ds = append(ds, tool.Diagnostic{Code: "bad-schedule", Severity: tool.Error, Pos: e.File.Pos, Len: max(1, len([]rune(e.File.S))),
						Message: err.Error(), Hint: "write one date or range a line, such as 2026-12-24..2026-12-31; a relative path starts at the folder of the project"})
				}
			}
		}
	}
	return ds
}

// startOf returns the directory in which the runs of a definition's schedules start. A definition that
// is in no folder of tools belongs to the project of the working directory.
func startOf(def *tool.Definition) string {
	file, _ := filepath.Abs(def.File)
	tools := filepath.Dir(file)
	switch name := filepath.Base(filepath.Dir(tools)); {
	case def.Scope == tool.ScopeUser || def.Scope == tool.ScopeGlobal:
		return workspaceOf("")
	case filepath.Base(tools) == "tools" && (name == ".flowrun" || name == ".cycod"):
		return library.ProjectOf(tools)
	}
	return ProjectHere()
}

// Stopped is a schedule that does not run, because a file of except cannot be read.
type Stopped struct {
	Schedule, Title, Tool, Project string    // Schedule is its id
	File                           string    // its definition; "" if it was added with a command
	Since                          time.Time // when the file, or else its folder, was last changed; zero if that is not known
	Why                            string
}

// lastChange returns when a file was last changed, or its folder if there is no such file.
func lastChange(file string) time.Time {
	for _, path := range []string{file, filepath.Dir(file)} {
		if info, err := os.Stat(path); err == nil {
			return info.ModTime()
		}
	}
	return time.Time{}
}

// addExcept adds the days in the files of except to an entry. If one of them cannot be read, the
// days that were read last still count, and if they are not known, ok is false.
func (t *Timetable) addExcept(e *Entry, r *tool.Schedule) (ok bool) {
	e.exceptFiles = exceptFiles(r, workspaceOf(e.Project))
	t.exceptFiles = append(t.exceptFiles, e.exceptFiles...)
	for _, file := range e.exceptFiles {
		days, err := ReadExcept(file)
		if err == nil {
			e.exceptRead = e.exceptRead.Union(days)
			continue
		}
		old, known := t.before[e.Name]
		if !known || !slices.Equal(old.exceptFiles, e.exceptFiles) {
			t.Stopped = append(t.Stopped, Stopped{Schedule: e.Name, Title: e.Title, Tool: e.Tool, Project: e.Project, File: e.place.File, Since: lastChange(file), Why: err.Error()})
			t.Problems = append(t.Problems, fmt.Sprintf("schedule %s does not run: %v", e.Title, err))
			return false
		}
		t.Problems = append(t.Problems, fmt.Sprintf("schedule %s: %v; the days that were read last still count", e.Title, err))
		e.exceptRead = old.exceptRead
		break
	}
	e.Except = e.Except.Union(e.exceptRead)
	return true
}

// workspaceOf returns the directory in which the runs of a project's schedules start.
func workspaceOf(project string) string {
	if project == "" {
		project, _ = home.Dir()
	}
	return project
}

// Workspace returns the directory in which the runs of the schedule start.
func (e Entry) Workspace() string { return workspaceOf(e.Project) }

// stampOf returns a text that changes when one of the files does.
func stampOf(files []string) string {
	var b strings.Builder
	for _, file := range files {
		info, err := os.Stat(file)
		if err != nil {
			fmt.Fprintln(&b, err)
			continue
		}
		changed, device, inode := filestamp.Identity(info)
		fmt.Fprintln(&b, info.Size(), info.ModTime().UnixNano(), changed, device, inode)
	}
	return b.String()
}
