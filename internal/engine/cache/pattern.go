package cache

import (
	"errors"
	"fmt"
	"path"
	"path/filepath"
	"runtime"
	"strings"

	"github.com/bmatcuk/doublestar/v4"
)

// Reasons why a pattern is rejected.
var (
	errEmpty   = errors.New("it is empty; name a file, a folder or a pattern such as src/**/*.go")
	errSyntax  = errors.New("a bracket or brace is not closed; to match one literally, write \\[ or \\{")
	errOutside = errors.New("it is outside the step's working directory; only files below that directory can be kept")
	errAll     = errors.New("it is the whole working directory; name the files or folders the step creates")
)

// CheckInput returns why a text cannot be a pattern of inputs.
func CheckInput(pattern string) error {
	_, err := clean(pattern)
	return err
}

// CheckOutput returns why a text cannot be a pattern of outputs in any directory. An absolute path is not checked,
// because that depends on the directory.
func CheckOutput(pattern string) error {
	p, err := clean(pattern)
	if err != nil || path.IsAbs(p) || filepath.IsAbs(p) {
		return err
	}
	_, err = below("", p)
	return err
}

// CheckOutputs returns why patterns cannot be outputs of a step that runs in dir. The error is a *PatternError.
func CheckOutputs(dir string, patterns []string) error {
	_, err := OutputPatterns(dir, patterns)
	return err
}

// clean returns a pattern with / as the separator and without a trailing one.
func clean(pattern string) (string, error) {
	if runtime.GOOS == "windows" {
		pattern = filepath.ToSlash(pattern)
	}
	switch {
	case pattern == "":
		return "", errEmpty
	case !doublestar.ValidatePattern(pattern):
		return "", errSyntax
	}
	return path.Clean(pattern), nil
}

// below returns a clean pattern of outputs relative to dir.
func below(dir, p string) (string, error) {
	if path.IsAbs(p) || filepath.IsAbs(p) {
		rest, ok := strings.CutPrefix(p, strings.TrimSuffix(filepath.ToSlash(filepath.Clean(dir)), "/")+"/")
		if !ok {
			return "", errOutside
		}
		p = rest
	}
	switch {
	case p == ".":
		return "", errAll
	case p == ".." || strings.HasPrefix(p, "../"):
		return "", errOutside
	}
	return p, nil
}

// OutputPatterns returns patterns of outputs relative to dir, with / as the separator. The error is a *PatternError.
func OutputPatterns(dir string, patterns []string) ([]string, error) {
	list := make([]string, len(patterns))
	for i, pattern := range patterns {
		p, err := clean(pattern)
		if err == nil {
			p, err = below(dir, p)
		}
		if err != nil {
			return nil, &PatternError{"outputs", pattern, err}
		}
		list[i] = p
	}
	return list, nil
}

// PatternError reports a pattern that cannot be used.
type PatternError struct {
	Key, Pattern string
	Err          error
}

func (e *PatternError) Error() string {
	return fmt.Sprintf("invalid pattern %q in %s: %v", e.Pattern, e.Key, e.Err)
}

func (e *PatternError) Unwrap() error { return e.Err }

// covered reports whether a path, or a folder above it, matches a pattern.
func covered(patterns []string, rel string) bool {
	for p := rel; p != "." && p != "/"; p = path.Dir(p) {
		for _, pattern := range patterns {
			if ok, _ := doublestar.Match(pattern, p); ok {
				return true
			}
		}
	}
	return false
}

// search holds the options of every search: links to folders are not followed, because that might not end, and an
// unreadable folder is an error, because its files could have changed.
var search = []doublestar.GlobOption{doublestar.WithNoFollow(), doublestar.WithFailOnIOErrors()}

// tempPrefix begins the names of temporary files of outputs that are being restored.
const tempPrefix = ".flowrun-restore-"
