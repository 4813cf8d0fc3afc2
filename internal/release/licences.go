package main

import (
	"bytes"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"regexp"
	"runtime/debug"
	"strings"
)

// licenceFile matches the names of files with a licence, or with a notice that a licence
// requires.
var licenceFile = regexp.MustCompile(`(?i)^(licen[cs]e|copying|notice|patents)([-._].*)?$`)

// writeLicences writes the licences of everything that a program contains. Most licences
// require this from those who distribute the program. A module without a licence is an
// error.
func writeLicences(w io.Writer, program string) error {
	info, err := readBuildInfo(program)
	if err != nil {
		return err
	}
	folders, err := sources(info.Deps)
	if err != nil {
		return err
	}
	if _, err := fmt.Fprintf(w, "%s contains third-party software under the licences below.\n", "flowrun"); err != nil {
		return err
	}
	var missing []error
	for _, from := range folders {
		n, err := writeLicencesIn(w, from)
		if err != nil {
			return err
		}
		if note := noLicenceFile[from.path()]; n == 0 && note != "" {
			if _, err := fmt.Fprintf(w, "\n%s\n%s: %s\n", strings.Repeat("-", 80), from.name, note); err != nil {
				return err
			}
			continue
		}
		if n == 0 {
			missing = append(missing, fmt.Errorf("%s: no licence file in %s", from.name, from.dir))
		}
	}
	return errors.Join(missing...)
}

// origin is the source of a part of the program.
type origin struct{ name, dir string }

// path returns the module path of an origin, which its version follows.
func (o origin) path() string { return strings.Fields(o.name)[0] }

// noLicenceFile says what is known of modules that their authors have published without a licence file.
var noLicenceFile = map[string]string{
	"github.com/nexus-rpc/nexus-proto-annotations": "the module has no licence file; go.temporal.io/api, which requires it, is under the MIT licence",
}

// sources returns the folders of Go itself and of the modules.
func sources(modules []*debug.Module) ([]origin, error) {
	root, err := exec.Command("go", "env", "GOROOT").Output()
	if err != nil {
		return nil, fmt.Errorf("go env: %w", withStderr(err))
	}
	folders := []origin{{"The Go standard library", strings.TrimSpace(string(root))}}
	if len(modules) == 0 {
		return folders, nil
	}
	args := []string{"list", "-m", "-json"}
	for _, m := range modules {
		args = append(args, m.Path) // if the module is replaced, go list returns the folder of the replacement
	}
	out, err := exec.Command("go", args...).Output()
	if err != nil {
		return nil, fmt.Errorf("go list: %w", withStderr(err))
	}
	for dec := json.NewDecoder(bytes.NewReader(out)); dec.More(); {
		var m struct{ Path, Version, Dir string }
		if err := dec.Decode(&m); err != nil {
			return nil, err
		}
		folders = append(folders, origin{m.Path + " " + m.Version, m.Dir})
	}
	return folders, nil
}

// withStderr adds the standard error of a command to its error.
func withStderr(err error) error {
	var exit *exec.ExitError
	if errors.As(err, &exit) {
		return fmt.Errorf("%w: %s", err, bytes.TrimSpace(exit.Stderr))
	}
	return err
}

func writeLicencesIn(w io.Writer, from origin) (n int, err error) {
	entries, err := os.ReadDir(from.dir)
	if err != nil {
		return 0, err
	}
	for _, e := range entries {
		if e.IsDir() || !licenceFile.MatchString(e.Name()) {
			continue
		}
		text, err := os.ReadFile(filepath.Join(from.dir, e.Name()))
		if err != nil {
			return 0, err
		}
		if _, err := fmt.Fprintf(w, "\n%s\n%s: %s\n\n%s\n", strings.Repeat("-", 80), from.name, e.Name(), bytes.TrimSpace(text)); err != nil {
			return 0, err
		}
		n++
	}
	return n, nil
}
