package builtin

import (
	"bufio"
	"bytes"
	"context"
	"errors"
	"io"
	"os/exec"
	"path"
	"path/filepath"
	"regexp"
	"regexp/syntax"
	"slices"
	"strings"
	"time"
)

// mostHints bounds what is kept of the files that ripgrep names, in bytes.
const mostHints = 64 << 20

// hints asks ripgrep, where it is on PATH, which files have lines that match, and leaves
// out the others: nil where there is no answer, and all are looked at. It is a hint for
// speed alone. What is searched, read and answered is decided by the walk, so the answer
// is the same with it and without, and nothing of another file comes into it.
func (s *search) hints(ctx context.Context) func(rest string, folder bool) bool {
	program, err := exec.LookPath("rg")
	if err != nil || !s.trusted(program) {
		return nil
	}
	re, err := forRipgrep(s.pattern)
	if err != nil {
		return nil
	}
	wanted, err := s.named(ctx, program, re)
	if err != nil {
		return nil
	}
	return func(rest string, _ bool) bool { return !wanted[rest] }
}

// trusted says whether a program lies outside of all granted folders: what stands in one may
// be what a model wrote.
func (s *search) trusted(program string) bool {
	real, err := filepath.EvalSymlinks(program)
	if err != nil || !filepath.IsAbs(program) {
		return false
	}
	return !slices.ContainsFunc(s.rs.list, func(r root) bool {
		return r.real != filepath.VolumeName(r.real)+string(filepath.Separator) && (inside(r.real, real) || inside(r.named, program))
	})
}

// named are the files that ripgrep names, and the folders that they are in. It is told to
// leave out no more than the walk does.
func (s *search) named(ctx context.Context, program, re string) (map[string]bool, error) {
	args := []string{"--no-config", "--no-messages", "--color=never", "--files-with-matches", "--null", "--no-follow", "--hidden", "--crlf",
		"--no-require-git", "--no-ignore-dot", "--no-ignore-global", "--no-ignore-parent", "--no-ignore-files"}
	if plainName.MatchString(s.filter) {
		args = append(args, "--type-add", "wanted:"+s.filter, "--type", "wanted")
	}
	cmd := exec.CommandContext(ctx, program, append(args, "--", re, ".")...)
	cmd.Dir = s.place.path
	cmd.WaitDelay = time.Second
	out, err := cmd.StdoutPipe()
	if err != nil {
		return nil, err
	}
	if err := cmd.Start(); err != nil {
		return nil, err
	}
	wanted, err := readNames(out)
	if err != nil {
		_ = cmd.Process.Kill() // it may have ended
	}
	var exit *exec.ExitError
	if ended := cmd.Wait(); err == nil && ended != nil && (!errors.As(ended, &exit) || exit.ExitCode() != 1) { // 1: there is none
		err = ended
	}
	return wanted, err
}

// plainName are globs that ripgrep understands as this package does, and that are about
// names.
var plainName = regexp.MustCompile(`^[A-Za-z0-9_.*-]+$`)

var errMany = errors.New("ripgrep names too many files")

func readNames(r io.Reader) (map[string]bool, error) {
	wanted := map[string]bool{}
	in, total := bufio.NewReader(r), 0
	for {
		name, err := in.ReadBytes(0)
		if errors.Is(err, io.EOF) {
			return wanted, nil
		}
		if err != nil {
			return nil, err
		}
		if total += len(name); total > mostHints {
			return nil, errMany
		}
		rest := strings.TrimPrefix(filepath.ToSlash(string(bytes.TrimSuffix(name, []byte{0}))), "./")
		for ; rest != "." && !wanted[rest]; rest = path.Dir(rest) {
			wanted[rest] = true
		}
	}
}

// forRipgrep is a regular expression in a form that ripgrep reads as Go does: with its
// classes written out, words of ASCII letters, and lines in place of texts.
func forRipgrep(pattern string) (string, error) {
	re, err := syntax.Parse("(?i)"+pattern, syntax.Perl)
	if err != nil {
		return "", err
	}
	byLine(re)
	return asciiWords(re.String()), nil
}

func byLine(re *syntax.Regexp) {
	switch re.Op {
	case syntax.OpBeginText:
		re.Op = syntax.OpBeginLine
	case syntax.OpEndText:
		re.Op = syntax.OpEndLine
	}
	for _, sub := range re.Sub {
		byLine(sub)
	}
}

// asciiWords limits \b and \B of an expression that the syntax package has written.
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
