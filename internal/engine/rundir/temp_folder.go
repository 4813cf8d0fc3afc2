package rundir

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

	"github.com/flowrun/flowrun/internal/lang/rawtext"
	"github.com/flowrun/flowrun/internal/os/ownership"
)

// TempName begins the names of the temporary folders of a run. Two runs of a tool do not share one.
func TempName(run string) string { return "flowrun-" + run }

// NoteTemp notes a temporary folder in the folder of its run, so that it is found when the run is removed.
func NoteTemp(folder, dir string) error {
	line, err := json.Marshal(rawtext.Encode(dir))
	if err != nil {
		return err
	}
	if err := os.MkdirAll(folder, 0o700); err != nil {
		return err
	}
	f, err := os.OpenFile(filepath.Join(folder, TempList), os.O_WRONLY|os.O_CREATE|os.O_APPEND, 0o600)
	if err != nil {
		return err
	}
	_, err = f.Write(append(line, '\n'))
	return errors.Join(err, f.Close())
}

// TempList is the name of the file that lists the temporary folders of a run, each as a JSON text on a line.
const TempList = "temp"

// TempFolders returns the temporary folders that are listed in the folder of a run. It returns none that cannot be one.
func TempFolders(folder, run string) (list []string) {
	if folder == "" {
		return nil
	}
	text, err := ownership.ReadFile(filepath.Join(folder, TempList))
	if err != nil {
		return nil
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		var dir string
		if json.Unmarshal(lines.Bytes(), &dir) != nil {
			continue
		}
		if dir = rawtext.Decode(dir); filepath.IsAbs(dir) && isTempOf(run, filepath.Base(dir)) {
			list = append(list, dir)
		}
	}
	return list
}

func isTempOf(run, name string) bool {
	rest, ok := strings.CutPrefix(name, TempName(run))
	return ok && (rest == "" || strings.HasPrefix(rest, "-"))
}

// Folders returns the folders that hold what a run has kept on disk beside its record: its temporary folders, and
// at last the one in the state directory. Who removes the run from the history removes them, in this order.
func Folders(stateDir, run string) []string {
	folder := filepath.Dir(LogFolder(stateDir, run))
	return append(TempFolders(folder, run), folder)
}

// Size returns the size in bytes of all files in the Folders of a run that can be read.
func Size(stateDir, run string) (n int64) {
	for _, dir := range Folders(stateDir, run) {
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

// Remove removes the Folders of a run.
func Remove(stateDir, run string) error {
	for _, dir := range Folders(stateDir, run) {
		if err := os.RemoveAll(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot remove the files of run %s: %w", run, err)
		}
	}
	return nil
}
