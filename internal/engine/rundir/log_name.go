package rundir

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/dag"
)

// Stream is one of the two streams of which a step has log files.
type Stream uint8

// The streams.
const (
	Stdout Stream = iota
	Stderr
)

// LogName returns the file name of a stream: the path of the step, and the attempt if it is not the
// first. FirstFree may add a number. No two streams have the same name, because paths never contain
// '~'.
func LogName(path dag.ID, attempt int, s Stream) string {
	name := FileName(string(path))
	if attempt > 1 {
		name += "~try" + strconv.Itoa(attempt)
	}
	return name + s.ext()
}

// TimesName returns the file name of the times at which an attempt printed, for FirstFree. See package logtimes.
func TimesName(path dag.ID, attempt int) string {
	return strings.TrimSuffix(LogName(path, attempt, Stdout), Stdout.ext()) + timesExt
}

const timesExt = ".times"

// ext returns the extension of a stream's log file.
func (s Stream) ext() string {
	if s == Stderr {
		return ".err"
	}
	return ".out"
}

// RunningLogs returns the files, stdout first, that may contain the output of a running attempt. If
// the name was used before, by a fallback or a resumed run, it returns the newest. The files appear
// about 200 ms after the attempt started, once they contain something.
func RunningLogs(dir string, path dag.ID, attempt int) []string {
	list := make([]string, 0, 2)
	for _, s := range []Stream{Stdout, Stderr} {
		newest := ""
		FirstFree(filepath.Join(dir, LogName(path, attempt, s)), func(path string) error {
			if _, err := os.Lstat(path); err != nil && newest != "" {
				return nil
			}
			newest = path
			return fs.ErrExist
		})
		list = append(list, newest)
	}
	return list
}

// LogFile is a file that holds what a step printed.
type LogFile struct {
	Path    string
	Stream  Stream
	Attempt int // from 1; a fallback counts as the last attempt
	nth     int // number of the file among those of the same attempt and stream, from 1
}

// Logs contains the log files of a run. See ReadLogs.
type Logs struct {
	files map[string][]LogFile // by step
	times map[string][]string
}

// Of returns the log files of a step, ordered by attempt, then by creation, stdout first. There are
// several files of one attempt if the step had a fallback or was executed again in a resumed run.
func (l Logs) Of(path dag.ID) []LogFile { return l.files[FileName(string(path))] }

// Times returns the files with the times of the log files of a step, in no particular order.
func (l Logs) Times(path dag.ID) []string { return l.times[FileName(string(path))] }

// ReadLogs lists the log files in dir, the Logs folder of a run. It includes files of running steps from about
// 200 ms after their start, once they contain something. If the folder does not exist, the list is
// empty.
func ReadLogs(dir string) (Logs, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return Logs{}, fmt.Errorf("cannot list log files: %w", err)
	}
	logs := Logs{map[string][]LogFile{}, map[string][]string{}}
	for _, e := range entries {
		step, f, ok := parseLogName(e.Name())
		if !ok || !e.Type().IsRegular() {
			continue
		}
		f.Path = filepath.Join(dir, e.Name())
		if filepath.Ext(e.Name()) == timesExt {
			logs.times[step] = append(logs.times[step], f.Path)
		} else {
			logs.files[step] = append(logs.files[step], f)
		}
	}
	for _, files := range logs.files {
		slices.SortFunc(files, func(a, b LogFile) int {
			return cmp.Or(cmp.Compare(a.Attempt, b.Attempt), cmp.Compare(a.nth, b.nth), cmp.Compare(a.Stream, b.Stream))
		})
	}
	return logs, nil
}

// logNames matches the names that LogName and FirstFree make: the FileName of the path, the
// attempt, the number of earlier files with that name, and the stream or that it has times. The lengths of the numbers
// are limited so that the digest of a long name is not read as one.
var logNames = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(.+?)(?:~try([1-9]\d{0,8}))?(?:~([1-9]\d{0,4}))?(\.out|\.err|\.times)$`)
})

func parseLogName(name string) (step string, f LogFile, ok bool) {
	m := logNames().FindStringSubmatch(name)
	if m == nil {
		return "", f, false
	}
	f = LogFile{Attempt: 1, nth: 1, Stream: Stdout}
	if m[2] != "" {
		f.Attempt, _ = strconv.Atoi(m[2])
	}
	if m[3] != "" {
		f.nth, _ = strconv.Atoi(m[3])
	}
	if m[4] == Stderr.ext() {
		f.Stream = Stderr
	}
	return m[1], f, true
}

// maxNames is how many names FirstFree tries. It limits how often a run can be resumed.
const maxNames = 10_000

// FirstFree calls take with one name after another until one is free. Names can be taken because a
// fallback counts as the attempt before it, and because a resumed run may execute a step again.
func FirstFree(base string, take func(path string) error) error {
	ext := filepath.Ext(base)
	path := base
	for n := 2; ; n++ {
		err := take(path)
		if !errors.Is(err, fs.ErrExist) || n > maxNames {
			return err
		}
		path = fmt.Sprintf("%s~%d%s", strings.TrimSuffix(base, ext), n, ext)
	}
}
