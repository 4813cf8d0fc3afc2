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
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/rawtext"
	"github.com/flowrun/flowrun/internal/os/diskuse"
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
func TempFolders(folder, run string) []string {
	if folder == "" {
		return nil
	}
	return slices.DeleteFunc(tempFolders(folder), func(dir string) bool { return !isTempOf(run, filepath.Base(dir)) })
}

// tempFolders returns the folders that are listed in the folder of a run.
func tempFolders(folder string) (list []string) {
	text, err := ownership.ReadFile(filepath.Join(folder, TempList))
	if err != nil {
		return nil
	}
	for lines := bufio.NewScanner(bytes.NewReader(text)); lines.Scan(); {
		var dir string
		if json.Unmarshal(lines.Bytes(), &dir) != nil {
			continue
		}
		if dir = rawtext.Decode(dir); filepath.IsAbs(dir) && strings.HasPrefix(filepath.Base(dir), TempName("")) {
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

// Kept are the files of all runs in a state directory.
type Kept struct{ StateDir string }

// Size returns how many bytes on disk the Folders of all runs take.
func (k Kept) Size() int64 {
	var c diskuse.Counter
	dir := filepath.Join(k.StateDir, "runs")
	c.Add(dir)
	entries, _ := os.ReadDir(dir)
	for _, e := range entries {
		for _, temp := range tempFolders(filepath.Join(dir, e.Name())) {
			c.Add(temp)
		}
	}
	return c.Bytes
}

// SizeOf returns how many bytes on disk the Folders of a run take. A file that other runs share is not counted: it stays
// when the run is removed. Beside its name in the run it has one in the store of artifacts.
func (k Kept) SizeOf(run string) int64 {
	c := diskuse.Counter{Private: 2}
	for _, dir := range Folders(k.StateDir, run) {
		c.Add(dir)
	}
	return c.Bytes
}

// Remove removes the Folders of a run.
func (k Kept) Remove(run string) error { return Remove(k.StateDir, run) }

// Remove removes the Folders of a run.
func Remove(stateDir, run string) error {
	for _, dir := range Folders(stateDir, run) {
		if err := os.RemoveAll(dir); err != nil && !errors.Is(err, fs.ErrNotExist) {
			return fmt.Errorf("cannot remove the files of run %s: %w", run, err)
		}
	}
	return nil
}
