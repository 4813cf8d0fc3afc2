package builtin

import (
	"bytes"
	"context"
	"errors"
	"os/exec"
	"path/filepath"
	"regexp/syntax"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/flowrun/flowrun/internal/os/proc"
)

// ripgrep finds out quickly which of many files have matching lines. It only makes the search faster: the walk
// decides which files are searched, and this package reads and matches the lines of the files that ripgrep names. So
// the answer is the same with and without it, and never includes other files.
type ripgrep struct {
	program string
	re      string
}

// ripgrep returns the ripgrep on PATH, nil if there is none. One in a granted folder is not used, because a model may
// have written it.
func (s *search) ripgrep() *ripgrep {
	program, err := exec.LookPath("rg")
	if err != nil || !filepath.IsAbs(program) {
		return nil
	}
	real, err := filepath.EvalSymlinks(program)
	if err != nil {
		return nil
	}
	for _, r := range s.rs.list {
		all := filepath.Dir(r.real) == r.real
		if !all && (inside(r.real, real) || inside(r.named, program)) {
			return nil
		}
	}
	re, err := forRipgrep(s.pattern)
	if err != nil {
		return nil
	}
	return &ripgrep{program, re}
}

// maxAsked limits the time of one call of ripgrep; after that, its files are searched without it.
const maxAsked = time.Minute

// matching returns those files, relative to dir, that have matching lines; all of them if ripgrep fails.
func (r *ripgrep) matching(ctx context.Context, dir string, files []string) []string {
	ctx, cancel := context.WithTimeout(ctx, maxAsked)
	defer cancel()
	args := []string{"--no-config", "--no-messages", "--color=never", "--files-with-matches", "--null", "--no-ignore", "--hidden", "--crlf", "--", r.re}
	for _, f := range files {
		args = append(args, "."+string(filepath.Separator)+filepath.FromSlash(f))
	}
	cmd := exec.CommandContext(ctx, r.program, args...)
	cmd.Dir = dir
	cmd.WaitDelay = time.Second
	var out bytes.Buffer
	cmd.Stdout = &out
	err := proc.Run(cmd, 0)
	var exit *exec.ExitError
	if err != nil && (!errors.As(err, &exit) || exit.ExitCode() != 1) { // 1: no file matches
		return files
	}
	named := map[string]bool{}
	for name := range bytes.SplitSeq(out.Bytes(), []byte{0}) {
		named[strings.TrimPrefix(filepath.ToSlash(string(name)), "./")] = true
	}
	return slices.DeleteFunc(slices.Clone(files), func(f string) bool { return !named[f] })
}

// forRipgrep converts a regular expression so that ripgrep interprets it as Go does: with its classes written out,
// words of ASCII letters, and lines in place of texts.
func forRipgrep(pattern string) (string, error) {
	re, err := syntax.Parse("(?i)"+pattern, syntax.Perl)
	if err != nil {
		return "", err
	}
	broken := byLine(re)
	source := asciiWords(re.String())
	if broken { // Go matches an invalid byte as one character, ripgrep does not: so select all files that may contain one
		source += `|(?-u:[\x80-\xff])`
	}
	return source, nil
}

// byLine changes the anchors for text to those for lines. It reports whether the expression can match a character
// that is not valid UTF-8.
func byLine(re *syntax.Regexp) (broken bool) {
	switch re.Op {
	case syntax.OpBeginText:
		re.Op = syntax.OpBeginLine
	case syntax.OpEndText:
		re.Op = syntax.OpEndLine
	case syntax.OpAnyChar, syntax.OpAnyCharNotNL:
		broken = true
	case syntax.OpLiteral:
		broken = slices.Contains(re.Rune, utf8.RuneError)
	case syntax.OpCharClass:
		for i := 0; i+1 < len(re.Rune); i += 2 {
			broken = broken || re.Rune[i] <= utf8.RuneError && utf8.RuneError <= re.Rune[i+1]
		}
	}
	for _, sub := range re.Sub {
		broken = byLine(sub) || broken
	}
	return broken
}

// asciiWords limits \b and \B to ASCII in an expression that was printed by the syntax package.
func asciiWords(source string) string {
	var b strings.Builder
	for i := 0; i < len(source); i++ {
		if source[i] != '\\' || i+1 == len(source) {
			b.WriteByte(source[i])
			continue
		}
		i++
		if two := source[i-1 : i+1]; two == `\b` || two == `\B` {
			b.WriteString("(?-u:" + two + ")")
		} else {
			b.WriteString(two)
		}
	}
	return b.String()
}
