package steps

import (
	"bufio"
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"strings"

	"github.com/flowrun/flowrun/internal/os/ownership"
)

// tempPrefix begins the names of the temporary folders of a run. Two runs of a tool do not share one.
func tempPrefix(run string) string { return "flowrun-" + run }

// TempFolder is the temporary folder of a call of a tool.
type TempFolder struct {
	Parent string // the folder in which it is made; it is made too if necessary
	Call   string // tells it from the folders of other calls of the run
	Brief  bool   // it is removed when the run ends, however it ends
}

// tempFolder is a temporary folder that the run has.
type tempFolder struct {
	dir   string
	brief bool
}

// MakeTemp makes a temporary folder, and returns its path. If the run has made it before and it is still there, that one
// is returned, wherever it is. Only steps with this confinement can use the folder. A step that runs as another user must
// be able to enter it and those above it, whatever the umask. Close leaves the folder unless EndTemps was called.
func (s *Session) MakeTemp(f TempFolder, c Confinement) (string, error) {
	parent, name := f.Parent, tempPrefix(s.options.Run)
	if f.Call != "" {
		name += "-" + f.Call
	}
	for _, earlier := range tempFolders(s.runFolder(), s.options.Run) {
		if filepath.Base(earlier) == name && usableTemp(earlier, c) {
			s.addTemp(tempFolder{earlier, f.Brief})
			return earlier, s.handOver(earlier, c)
		}
	}
	dir := filepath.Join(parent, name)
	if !isFolder(parent) {
		if err := makeParents(parent, c.ChangesUser()); err != nil {
			return "", err
		}
	}
	if err := s.noteTemp(dir); err != nil {
		return "", err
	}
	s.addTemp(tempFolder{dir, f.Brief})
	if err := os.Mkdir(dir, 0o700); err != nil && !usableTemp(dir, c) {
		return "", err
	}
	return dir, s.handOver(dir, c)
}

// runFolder returns the folder of the run in the state directory, "" if nothing of the run is kept.
func (s *Session) runFolder() string {
	if s.options.LogDir == "" {
		return ""
	}
	return filepath.Dir(s.options.LogDir)
}

// usableTemp reports whether there is a folder that the run has made: another user can make one of that name in a folder
// that all can write to.
func usableTemp(dir string, c Confinement) bool {
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir() && (ownedByUser(info) || c.ChangesUser())
}

func (s *Session) addTemp(t tempFolder) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ofRun = append(s.ofRun, t)
}

// noteTemp notes a temporary folder, so that it is found when the run is removed.
func (s *Session) noteTemp(dir string) error {
	if s.runFolder() == "" {
		return nil
	}
	line, err := json.Marshal(dir)
	if err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(s.runFolder(), tempList), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// tempList is the name of the file that lists the temporary folders of a run, each as a JSON text on a line.
const tempList = "temp"

// tempFolders returns the temporary folders that are listed in the folder of a run. It returns none that cannot be one.
func tempFolders(folder, run string) (list []string) {
	if folder == "" {
		return nil
	}
	text, err := ownership.ReadFile(filepath.Join(folder, tempList))
	if err != nil {
		return nil
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		var dir string
		if json.Unmarshal(lines.Bytes(), &dir) == nil && filepath.IsAbs(dir) && isTempOf(run, filepath.Base(dir)) {
			list = append(list, dir)
		}
	}
	return list
}

func isTempOf(run, name string) bool {
	rest, ok := strings.CutPrefix(name, tempPrefix(run))
	return ok && (rest == "" || strings.HasPrefix(rest, "-"))
}

// EndTemps makes Close remove the folders of MakeTemp, because the run has ended. If it can be resumed, those stay that are
// not brief: its steps find there what those before them have left.
func (s *Session) EndTemps(resumable bool) {
	s.mu.Lock()
	defer s.mu.Unlock()
	for _, t := range s.ofRun {
		if t.brief || !resumable {
			s.temps = append(s.temps, t.dir)
		}
	}
	if folder := s.runFolder(); folder != "" && !resumable {
		s.temps = append(s.temps, filepath.Join(folder, tempList))
	}
}

// RunFolders returns the folders that hold what a run has kept on disk beside its record: its temporary folders, and
// at last the one in the state directory. Who removes the run from the history removes them, in this order.
func RunFolders(stateDir, run string) []string {
	folder := filepath.Dir(LogFolder(stateDir, run))
	return append(tempFolders(folder, run), folder)
}

// RunSize returns the size in bytes of all files in the RunFolders of a run that can be read.
func RunSize(stateDir, run string) (n int64) {
	for _, dir := range RunFolders(stateDir, run) {
		_ = filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
			if err != nil || !d.Type().IsRegular() {
				return nil
			}
			if info, err := d.Info(); err == nil {
				n += info.Size()
			}
			return nil
		})
	}
	return n
}

// RemoveRunFolders removes the RunFolders of a run.
func RemoveRunFolders(stateDir, run string) error {
	for _, dir := range RunFolders(stateDir, run) {
		if err := os.RemoveAll(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot remove the files of run %s: %w", run, err)
		}
	}
	return nil
}
