package steps

import (
	"os"
	"path/filepath"

	"github.com/flowrun/flowrun/internal/engine/confinement"
	"github.com/flowrun/flowrun/internal/engine/rundir"
)

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
func (s *Session) MakeTemp(f TempFolder, c confinement.Confinement) (string, error) {
	parent, name := f.Parent, rundir.TempName(s.options.Run)
	if f.Call != "" {
		name += "-" + f.Call
	}
	for _, earlier := range rundir.TempFolders(s.runFolder(), s.options.Run) {
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
	if folder := s.runFolder(); folder != "" {
		if err := rundir.NoteTemp(folder, dir); err != nil {
			return "", err
		}
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
func usableTemp(dir string, c confinement.Confinement) bool {
	info, err := os.Lstat(dir)
	return err == nil && info.IsDir() && (rundir.OwnedByUser(info) || c.ChangesUser())
}

func (s *Session) addTemp(t tempFolder) {
	s.mu.Lock()
	defer s.mu.Unlock()
	s.ofRun = append(s.ofRun, t)
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
		s.temps = append(s.temps, filepath.Join(folder, rundir.TempList))
	}
}

func isFolder(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.IsDir()
}
