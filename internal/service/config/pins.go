package config

import (
	"errors"
	"io/fs"
	"maps"
	"os"
	"path/filepath"
	"slices"

	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/library"
)

// toolFolders returns the folders of a project that contain definitions.
func toolFolders() []string {
	return []string{filepath.Join(".flowrun", "tools"), filepath.Join(".cycod", "tools")}
}

// definitionTexts returns the text of each file in the tool folders of a project, by its path in the
// project.
func definitionTexts(project string) (map[string][]byte, error) {
	texts := map[string][]byte{}
	for _, folder := range toolFolders() {
		entries, err := os.ReadDir(filepath.Join(project, folder))
		if err != nil && !errors.Is(err, fs.ErrNotExist) {
			return nil, err
		}
		for _, e := range entries {
			if e.IsDir() {
				continue
			}
			name := filepath.Join(folder, e.Name())
			text, err := os.ReadFile(filepath.Join(project, name))
			if err != nil {
				continue // it cannot be used as a definition either
			}
			texts[name] = text
		}
	}
	return texts, nil
}

// digestsOf returns the digest of each text.
func digestsOf(texts map[string][]byte) map[string]string {
	sums := make(map[string]string, len(texts))
	for name, text := range texts {
		sums[name] = tool.DigestOf(text)
	}
	return sums
}

// Pins reports whether a definition of a trusted project is the one that the user trusted. It reads the
// decision again, so a project can be trusted again while a server runs.
func (t Trust) Pins(def *tool.Definition) bool {
	if t.options.TrustProject {
		return true
	}
	project := library.ProjectOf(filepath.Dir(def.File))
	name, err := filepath.Rel(project, def.File)
	if err != nil {
		return false
	}
	r, err := loadDecision(t.options.StateDir, project)
	return err == nil && r.Trusted && r.Definitions[name] == tool.DigestOf(def.Source) && r.pinsParts(project, def.Files)
}

// pinsParts reports whether those of the files that are in a tool folder of a project are as the user trusted them. Other
// files have not been recorded.
func (r Record) pinsParts(project string, parts []tool.Part) bool {
	if len(parts) == 0 {
		return true
	}
	recorded := map[string]string{} // digests by the files that the names lead to: who imports a link has read its target
	for name, digest := range r.Definitions {
		recorded[realPath(filepath.Join(project, name))] = digest
	}
	for _, part := range parts {
		path := realPath(part.Path)
		digest, known := recorded[path]
		added := !known && slices.ContainsFunc(toolFolders(), func(folder string) bool {
			return filepath.Dir(path) == realPath(filepath.Join(project, folder))
		})
		if added || known && digest != part.Digest {
			return false
		}
	}
	return true
}

// realPath follows links. It returns the path itself if that is not possible.
func realPath(path string) string {
	if real, err := filepath.EvalSymlinks(path); err == nil {
		return real
	}
	return path
}

// FileState says whether the user trusted a file in a tool folder as it is now.
type FileState struct {
	File, State string
	// Before is the text that was trusted, Now the current one; nil if there is none. Known is false if the trusted
	// text was not kept.
	Before, Now []byte
	Known       bool
}

// Compare compares the files in the tool folders of a trusted project with those that the user trusted.
func (t Trust) Compare() (list []FileState, err error) {
	r, err := loadDecision(t.options.StateDir, t.Folder)
	if err != nil {
		return nil, err
	}
	texts, err := definitionTexts(t.Folder)
	if err != nil {
		return nil, err
	}
	now, trusted := digestsOf(texts), trustedTexts(t.options.StateDir, t.Folder)
	all := maps.Clone(now)
	maps.Copy(all, r.Definitions)
	for _, name := range slices.Sorted(maps.Keys(all)) {
		state := "unchanged"
		switch {
		case now[name] == "":
			state = "removed"
		case r.Definitions[name] == "":
			state = "added"
		case r.Definitions[name] != now[name]:
			state = "changed"
		}
		before := trusted[name]
		known := r.Definitions[name] == "" || tool.DigestOf(before) == r.Definitions[name]
		list = append(list, FileState{name, state, before, texts[name], known})
	}
	return list, nil
}
