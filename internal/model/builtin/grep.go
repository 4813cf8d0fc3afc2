package builtin

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"github.com/flowrun/flowrun/internal/engine/gostep"
	"github.com/flowrun/flowrun/internal/lang/plural"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"strings"
)

// Limits of grep_search.
const (
	defaultMatches = 500     // lines in an answer by default
	maxMatched     = 1 << 20 // bytes of lines in an answer
	maxSearched    = 1 << 20 // bytes of a line that are searched
	maxGrepLine    = 1000    // characters of a line that are shown
)

func (f *files) grepSearch() gostep.GoTool {
	return gostep.GoTool{
		Name: "grep_search", DisplayName: "Grep", Tags: []string{"read"}, Reads: true,
		Description: "Searches the lines of files for a regular expression, ignoring case, and returns each matching line with its file and line number. Hidden files are searched; binary files, files ignored by .gitignore and the .git folder are not.",
		Schema: parsed(`{
			"type": "object",
			"properties": {
				"pattern": {"type": "string", "minLength": 1, "maxLength": 10000, "description": "The regular expression (RE2 syntax: no lookaround, no backreferences), matched against one line at a time. Case is ignored unless the pattern starts with (?-i). To match one of . ( ) [ ] { } * + ? | ^ $ \\ literally, escape it with \\.", "examples": ["func \\w+Handler", "listen.*8080"]},
				"path": {"type": "string", "minLength": 1, "description": "The folder or file to search, absolute or relative to the workspace. Default: the workspace.", "examples": ["src"]},
				"glob": {"type": "string", "minLength": 1, "maxLength": 1000, "description": "Search only matching files: *.go is matched against file names, src/**/*.ts against paths relative to path.", "examples": ["*.go"]},
				"limit": {"type": "integer", "minimum": 1, "maximum": 20000, "description": "The maximum number of lines to return. Default: 500.", "examples": [100]},
				"include": {"type": "string", "minLength": 1, "maxLength": 1000, "description": "Another name for glob.", "examples": ["*.go"]},
				"maxResults": {"type": "integer", "minimum": 1, "maximum": 20000, "description": "Another name for limit.", "examples": [100]}
			},
			"required": ["pattern"],
			"additionalProperties": false
		}`),
		Describe: func(p map[string]any) string {
			return fmt.Sprintf("Searches for %s%s", quotedPiece(values(p).text("pattern")), within(p))
		},
		Run: func(ctx context.Context, in *gostep.StepInput) (any, error) {
			s, err := f.searching(in)
			if err == nil {
				err = s.run(ctx)
			}
			if err != nil {
				return nil, err
			}
			return s.result(), nil
		},
	}
}

// search is one call of grep_search, with its results.
type search struct {
	rs      *roots
	place   place
	pattern string
	re      *regexp.Regexp
	filter  string // the glob as it was given; "" for all files
	glob    globPattern
	max     int

	walk       *walk
	dir        *os.Root // folder of place
	rg         *ripgrep // nil if it is not installed
	batchFiles []string // files for the next call of ripgrep, relative to place
	batchBytes int      // total length of their names in bytes

	found strings.Builder
	count int    // number of lines in found
	file  string // of the last line in found
	full  bool   // a limit was reached; there may be more matches
}

func (f *files) searching(in *gostep.StepInput) (*search, error) {
	v := values(in.Params)
	s := &search{rs: f.roots(in), pattern: v.text("pattern"), max: defaultMatches}
	var err error
	if s.re, err = regexp.Compile("(?i)" + s.pattern); err != nil {
		return nil, badExpression(s.pattern, err)
	}
	if s.place, err = s.rs.searched(v.text("path")); err != nil {
		return nil, err
	}
	for _, name := range []string{"include", "glob"} {
		text := v.text(name)
		if text != "" && s.filter != "" && text != s.filter {
			return nil, fmt.Errorf("glob is %s, but include, which means the same, is %s; use only one of them", quotedPiece(text), quotedPiece(s.filter))
		}
		if text != "" {
			s.filter = text
		}
	}
	if s.filter != "" {
		if s.glob, err = pattern(s.filter, true); err != nil {
			return nil, err
		}
	}
	for _, name := range []string{"maxResults", "limit"} {
		if n, given := v.number(name); given {
			s.max = n
		}
	}
	return s, nil
}

// badExpression returns an error that says what is wrong with a regular expression and how to write it.
func badExpression(pattern string, err error) error {
	hint := "to match a special character literally, escape it with \\, as in \\( or \\["
	if strings.Contains(pattern, "(?=") || strings.Contains(pattern, "(?!") || strings.Contains(pattern, "(?<") {
		hint = "lookahead and lookbehind are not supported; use a broader pattern and filter the lines yourself"
	}
	return fmt.Errorf("the pattern %s is not a valid regular expression: %s; %s", quotedPiece(pattern), strings.Replace(strings.TrimPrefix(err.Error(), "error parsing regexp: "), "`(?i)", "`", 1), hint)
}

// run searches a folder, or a single file.
func (s *search) run(ctx context.Context) error {
	s.walk = &walk{ctx: ctx, gitIgnore: true, depth: maxFolder, visit: func(e entry) error {
		if e.typ != 0 || s.filter != "" && !s.glob.fits(e.rest) {
			return nil
		}
		return s.visit(ctx, e)
	}}
	dir, err := s.place.dir()
	if err == nil {
		s.rg = s.ripgrep()
		s.dir = dir
		defer dir.Close()
		if err := s.walk.from(s.place); err != nil || s.full {
			return err
		}
		return enough(s.batch(ctx))
	}
	parent, err := s.place.parent(false)
	if err != nil {
		return err
	}
	defer parent.Close()
	return enough(s.searchLines(ctx, parent, s.place.name(), s.place.path))
}

// enough returns nil for errEnough, which only ends a walk, and other errors unchanged.
func enough(err error) error {
	if errors.Is(err, errEnough) {
		return nil
	}
	return err
}

// Limits for the files passed to one call of ripgrep, so that they fit on a command line.
const (
	maxBatch      = 1000
	maxBatchBytes = 24_000
)

// visit searches a file of the walk, or collects it for ripgrep.
func (s *search) visit(ctx context.Context, e entry) error {
	if s.rg == nil {
		return s.searchFile(ctx, e.dir, e.name, e.path)
	}
	s.batchFiles = append(s.batchFiles, e.rest)
	s.batchBytes += len(e.rest)
	if len(s.batchFiles) < maxBatch && s.batchBytes < maxBatchBytes {
		return nil
	}
	return s.batch(ctx)
}

// batch searches the files that were collected.
func (s *search) batch(ctx context.Context) error {
	if len(s.batchFiles) == 0 {
		return nil
	}
	files := s.rg.matching(ctx, s.place.path, s.batchFiles)
	s.batchFiles, s.batchBytes = s.batchFiles[:0], 0
	for _, f := range files {
		name := filepath.FromSlash(f)
		if err := s.searchFile(ctx, s.dir, name, filepath.Join(s.place.path, name)); err != nil {
			return err
		}
	}
	return nil
}

// searchFile searches one file of the walk. A file that cannot be read is noted.
func (s *search) searchFile(ctx context.Context, dir *os.Root, name, path string) error {
	if err := ctx.Err(); err != nil {
		return err
	}
	err := s.searchLines(ctx, dir, name, path)
	var known *refusal
	switch {
	case err == nil, errors.Is(err, errEnough), ctx.Err() != nil:
		return err
	case errors.As(err, &known) && known.cause == nil, errors.Is(err, fs.ErrNotExist): // not a regular file, or removed
		return nil
	}
	s.walk.addGap("%v", err)
	return nil
}

// searchLines searches the lines of a file up to the first NUL byte, which text does not contain.
func (s *search) searchLines(ctx context.Context, dir *os.Root, name, path string) error {
	f, _, err := openRegular(dir, name, path)
	if err != nil {
		return err
	}
	defer f.Close()
	text, err := read(ctx, f)
	if err != nil || !text.text && !text.isLegacyText() {
		return describeError(path, err)
	}
	l := &lineReader{r: text.r, max: maxSearched}
	for n := 1; l.next(); n++ {
		if bytes.IndexByte(l.line, 0) >= 0 {
			return nil
		}
		if s.re.Match(l.line) {
			if s.count >= s.max || s.found.Len() > maxMatched {
				s.full = true
				return errEnough
			}
			s.add(path, n, l.line)
		}
	}
	return describeError(path, l.failed())
}

// isLegacyText reports whether a file that is not valid text can be searched nevertheless: it has no NUL byte, so it
// may be text in an old encoding.
func (s *source) isLegacyText() bool {
	head, _ := s.r.Peek(headSize) // all of a short file
	return s.mime == "application/octet-stream" && bytes.IndexByte(head, 0) < 0
}

// add adds a line to the answer.
func (s *search) add(path string, number int, line []byte) {
	if path != s.file {
		if s.file != "" {
			s.found.WriteString("---\n")
		}
		fmt.Fprintf(&s.found, "File: %s\n", path)
		s.file = path
	}
	shown, cut := firstChars(strings.ToValidUTF8(string(line), "\uFFFD"), maxGrepLine)
	if cut {
		shown += "... [line cut]"
	}
	fmt.Fprintf(&s.found, "L%d: %s\n", number, shown)
	s.count++
}

// result returns the answer.
func (s *search) result() *gostep.Content {
	about := fmt.Sprintf("%s in %s", quotedPiece(s.pattern), s.place.path)
	if s.filter != "" {
		about += fmt.Sprintf(" (files: %s)", s.filter)
	}
	if s.count == 0 {
		short := "No matches for " + about
		return textAnswer(short+"."+s.walk.notes(), short)
	}
	short := fmt.Sprintf("Found %s for %s", plural.Of(s.count, "match"), about)
	if s.full {
		short = fmt.Sprintf("Found more than %s for %s", plural.Of(s.count, "match"), about)
	}
	text := short + ":\n---\n" + s.found.String() + "---"
	if s.full {
		text += fmt.Sprintf("\n[Only the first %d are shown; use a narrower pattern, path or glob.]", s.count)
	}
	return textAnswer(text+s.walk.notes(), short)
}
