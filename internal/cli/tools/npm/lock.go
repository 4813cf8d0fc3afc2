package npm

import (
	"errors"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/js/bundle"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/os/atomicfile"
	"github.com/flowrun/flowrun/internal/screen/console"
)

// npmLockName is the name that npm gives its lock file.
const npmLockName = "package-lock.json"

// npmLock is a lock file of npm, version 2 or 3. Its text comes from the folder of the tool, which
// others may have written. It keeps what names a version and the digest of a package, and not where
// to fetch it from: npm then fetches it from its registry, and compares the digest.
type npmLock struct {
	Name     string                    `json:"name,omitempty"`
	Version  int                       `json:"lockfileVersion"`
	Requires bool                      `json:"requires"`
	Packages map[string]map[string]any `json:"packages"`
}

// readNPMLock reads a lock file and rejects packages that are not in the registry.
func readNPMLock(text []byte) (npmLock, error) {
	var lock npmLock
	err := value.DecodeJSON(text, &lock)
	if err == nil && (lock.Version < 2 || lock.Packages == nil) {
		err = fmt.Errorf("expected version 2 or 3 with packages")
	}
	if err != nil {
		return npmLock{}, fmt.Errorf(" is not a lock file of npm: %w; remove it", err)
	}
	for path, entry := range lock.Packages {
		if entry == nil || path != "" && !inRegistry(path, entry) || !rangesInRegistry(entry) {
			return npmLock{}, fmt.Errorf(": %s is not a package of the npm registry; remove the lock file", console.Clean(afterLast(path, "node_modules/")))
		}
		delete(entry, "resolved")
	}
	return lock, nil
}

// afterLast returns the text after the last separator, or all of it without one.
func afterLast(s, sep string) string {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[i+len(sep):]
	}
	return s
}

// inRegistry reports whether an entry is a package with a version of the registry.
func inRegistry(path string, entry map[string]any) bool {
	version, _ := entry["version"].(string)
	return strings.HasPrefix(path, "node_modules/") && filepath.IsLocal(filepath.FromSlash(path)) && entry["link"] == nil && registryRange().MatchString(version)
}

// rangesInRegistry reports whether everything that a package depends on is in the registry, too.
func rangesInRegistry(entry map[string]any) bool {
	for _, key := range []string{"dependencies", "devDependencies", "optionalDependencies", "peerDependencies"} {
		list, _ := entry[key].(map[string]any)
		for _, v := range list {
			text, _ := v.(string)
			if alias, ok := strings.CutPrefix(text, "npm:"); ok {
				text = afterLast(alias, "@")
			}
			if text != "" && !registryRange().MatchString(text) {
				return false
			}
		}
	}
	return true
}

// fits reports whether the lock file was made for these dependencies.
func (l npmLock) fits(list []tool.Dependency) bool {
	made, _ := l.Packages[""]["dependencies"].(map[string]any)
	want := map[string]any{}
	for _, one := range list {
		want[one.Name] = one.Range
	}
	return maps.Equal(made, want)
}

// writeLock writes the lock file that npm made in a folder next to the tool, and returns its text. If
// the tool is in a folder that cannot be written, it has none.
func (d dependencies) writeLock(env *ui.Env, folder string) []byte {
	text, err := os.ReadFile(filepath.Join(folder, npmLockName))
	if err == nil {
		err = atomicfile.File{Path: bundle.LockFile(d.file), Mode: 0o644}.WriteText(text)
	}
	switch {
	case err == nil:
		return text
	case !errors.Is(err, os.ErrNotExist): // npm is set up to make none
		env.Notef("warning: cannot write the lock file, so another machine may get other versions: %v", err)
	}
	return nil
}

// adoptLock writes the lock file of packages that were fetched without one next to the tool. They
// must then be fetched again, in these versions. It reports whether it wrote the file.
func (d dependencies) adoptLock(env *ui.Env) bool {
	if d.lock != nil || !slices.ContainsFunc(d.Entries, func(e dependency) bool { return e.Found == "cache" }) {
		return false
	}
	return d.writeLock(env, d.Folder) != nil
}
