package steps

import (
	"cmp"
	"crypto/sha256"
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

// LogFolder is where the log files of a run are kept, below the folder of all
// state.
func LogFolder(stateDir, run string) string {
	return filepath.Join(stateDir, "runs", run, "logs")
}

// logName is the file name of a stream: the step's path, the try when it is not
// the first. firstFree may add a number. No two streams share a name: '~' is never
// a path's own.
func logName(path dag.ID, attempt int, s Streams) string {
	name := stem(string(path))
	if attempt > 1 {
		name += "~try" + strconv.Itoa(attempt)
	}
	return name + s.ext()
}

// ext is the extension of a stream's log file.
func (s Streams) ext() string {
	if s == Stderr {
		return ".err"
	}
	return ".out"
}

// stem is a text as part of a file name: every byte that could mean something to a
// file system or a terminal is written as %XX, and the end of a long one as a
// digest.
func stem(text string) string {
	const safe = "-_.abcdefghijklmnopqrstuvwxyzABCDEFGHIJKLMNOPQRSTUVWXYZ0123456789"
	const most = 180 // bytes; file systems take 255
	var b strings.Builder
	for i := range len(text) {
		if c := text[i]; strings.IndexByte(safe, c) >= 0 && (c != '.' || i > 0) {
			b.WriteByte(c)
		} else {
			fmt.Fprintf(&b, "%%%02X", c)
		}
	}
	name := b.String()
	if len(name) > most {
		name = fmt.Sprintf("%s~%x", name[:most], sha256.Sum256([]byte(text)))[:most+17]
	}
	return name
}

// RunningLogs are the files in which what a try that is under way prints may stand,
// stdout first: where a step ran before under that name, as with a fallback or in a
// resumed run, the newest. They appear about 200 ms after its start, once they hold
// something.
func RunningLogs(dir string, path dag.ID, attempt int) []string {
	list := make([]string, 0, 2)
	for _, s := range []Streams{Stdout, Stderr} {
		newest := ""
		firstFree(filepath.Join(dir, logName(path, attempt, s)), func(path string) error {
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
	Stream  Streams // Stdout or Stderr
	Attempt int     // the try, from 1; a fallback counts as the last
	nth     int     // of the same try and stream, from 1
}

// Logs are the log files of a run, by step. See ReadLogs.
type Logs map[string][]LogFile

// Of are a step's log files: by try and, within a try, in the order in which they
// were made, stdout first. There are several of one try when the step had a fallback,
// or ran again in a resumed run.
func (l Logs) Of(path dag.ID) []LogFile { return l[stem(string(path))] }

// ReadLogs lists the log files in dir, a LogFolder. The files of a running step are
// among them from about 200 ms after its start, once they hold something. A folder
// that is not there holds none.
func ReadLogs(dir string) (Logs, error) {
	entries, err := os.ReadDir(dir)
	if err != nil && !errors.Is(err, fs.ErrNotExist) {
		return nil, fmt.Errorf("cannot list log files: %w", err)
	}
	logs := Logs{}
	for _, e := range entries {
		if step, f, ok := parseLogName(e.Name()); ok && e.Type().IsRegular() {
			f.Path = filepath.Join(dir, e.Name())
			logs[step] = append(logs[step], f)
		}
	}
	for _, files := range logs {
		slices.SortFunc(files, func(a, b LogFile) int {
			return cmp.Or(cmp.Compare(a.Attempt, b.Attempt), cmp.Compare(a.nth, b.nth), cmp.Compare(a.Stream, b.Stream))
		})
	}
	return logs, nil
}

// logNames are the names that logName and firstFree make: the step's stem, the try,
// how many had that name before, the stream. The bounds keep the digest of a long
// stem out of the numbers.
var logNames = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^(.+?)(?:~try([1-9]\d{0,8}))?(?:~([1-9]\d{0,4}))?(\.out|\.err)$`)
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
