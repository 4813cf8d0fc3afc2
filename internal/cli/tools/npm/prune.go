package npm

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"time"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/lang/plural"
	"github.com/flowrun/flowrun/internal/os/ownership"
	"github.com/flowrun/flowrun/library"
)

// usersFile is the name of a file in each folder of packages. It lists the files of the tools for
// which the packages were fetched, one path per line.
const usersFile = "tools"

// recordUser records in a folder of packages that a tool uses it. Concurrent processes may add a path
// twice, which is harmless.
//
// The record must exist before prune can see the folder, so it is written before the folder gets
// its final name.
func recordUser(folder, file string) error {
	if slices.Contains(recordedUsers(folder), file) || strings.ContainsAny(file, "\r\n") {
		return nil
	}
	f, err := os.OpenFile(filepath.Join(folder, usersFile), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o600)
	if err != nil {
		return err
	}
	_, err = f.WriteString(file + "\n")
	return errors.Join(err, f.Close())
}

// recordUser records the tool in its folder if it uses packages from there.
func (d dependencies) recordUser() error {
	if !slices.ContainsFunc(d.Entries, func(e dependency) bool { return e.Found == "cache" }) {
		return nil
	}
	return recordUser(d.Folder, d.file)
}

// recordedUsers returns the files of the tools that are recorded in a folder of packages.
func recordedUsers(folder string) []string {
	text, _ := ownership.ReadFile(filepath.Join(folder, usersFile))
	return strings.Split(strings.TrimSuffix(string(text), "\n"), "\n")
}

// pruneDependencies removes the folders of packages that are no longer needed: by an available
// tool, by a tool for which they were fetched, or by a recorded run.
func pruneDependencies(env *ui.Env, dry bool) error {
	dir, err := ui.StateDir()
	if err != nil {
		return err
	}
	root := filepath.Join(dir, "npm")
	entries, err := os.ReadDir(root)
	switch {
	case len(entries) == 0 && (err == nil || errors.Is(err, fs.ErrNotExist)):
		env.Notef("no npm packages are stored")
		return nil
	case err != nil:
		return err
	}
	unused := unusedByTools(env, root, entries)
	if len(unused) > 0 {
		if err := env.ReadHistory(func(ctx context.Context, s ui.History) error { return unusedByRuns(ctx, s, unused) }); err != nil {
			return fmt.Errorf("nothing was removed, because the history cannot be read to find out which runs need packages: %w", err)
		}
	}
	verb := "removed"
	if dry {
		verb = "would remove"
	}
	var bytes int64
	for _, folder := range sortedFolders(unused) {
		size := folderSize(folder)
		if !dry {
			if err := os.RemoveAll(folder); err != nil {
				return err
			}
		}
		bytes += size
		fmt.Fprintf(env.Stdout, "%s %s, about %s\n", verb, folder, ui.FormatBytes(size))
	}
	fmt.Fprintf(env.Stdout, "%s %s of npm packages, about %s\n", verb, plural.Of(len(unused), "folder"), ui.FormatBytes(bytes))
	return nil
}

func sortedFolders(set map[string]bool) []string {
	var list []string
	for folder := range set {
		list = append(list, folder)
	}
	slices.Sort(list)
	return list
}

// unusedByTools returns the folders that no tool needs. A tool that cannot be read keeps the
// packages that were fetched for it.
func unusedByTools(env *ui.Env, root string, entries []os.DirEntry) map[string]bool {
	lib, needed := env.Library(), map[string]bool{}
	for _, l := range lib.List() {
		if def, _, err := lib.Load(l.Path); err == nil && l.Path != "" {
			needed[dependenciesOf(def).Folder] = true
		}
	}
	unused := map[string]bool{}
	for _, e := range entries {
		folder := filepath.Join(root, e.Name())
		info, err := e.Info()
		switch {
		case err != nil || !e.IsDir() || needed[folder]:
		case strings.HasPrefix(e.Name(), ".") && time.Since(info.ModTime()) < 24*time.Hour: // npm may still be writing it
		case slices.ContainsFunc(recordedUsers(folder), func(file string) bool { return needsFolder(lib, file, folder) }):
		default:
			unused[folder] = true
		}
	}
	return unused
}

// needsFolder reports whether the tool in a file needs a folder, or may need it because the tool
// cannot be read.
func needsFolder(lib *library.Library, file, folder string) bool {
	if _, err := os.Stat(file); file == "" || errors.Is(err, fs.ErrNotExist) {
		return false
	}
	def, found, err := lib.Load(file)
	return err != nil || found.Err() != nil || dependenciesOf(def).Folder == folder
}

// unusedByRuns deletes from folders those that recorded runs need to be resumed or retried.
func unusedByRuns(ctx context.Context, s history.Store, folders map[string]bool) error {
	runs, err := s.Runs(ctx, history.Query{})
	if err != nil {
		return err
	}
	known := map[string]bool{} // digests of the sources that have been examined
	for _, r := range runs {
		record, err := s.Record(ctx, r.ID)
		if errors.Is(err, history.ErrNoRun) { // pruned meanwhile
			continue
		}
		if err != nil {
			return err
		}
		for _, src := range record.Sources {
			if modules := ""; !known[src.Digest] {
				known[src.Digest] = true
				if modules = hooks.KeptModules(src.Text); modules != "" {
					delete(folders, filepath.Dir(modules))
				}
			}
		}
	}
	return nil
}

// folderSize returns the size of all files in a folder in bytes. It ignores files that cannot be
// read.
func folderSize(dir string) (n int64) {
	filepath.WalkDir(dir, func(_ string, d fs.DirEntry, err error) error {
		if err == nil && d.Type().IsRegular() {
			if info, err := d.Info(); err == nil {
				n += info.Size()
			}
		}
		return nil
	})
	return n
}
