package builtin

import (
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// ignores holds the rules of .gitignore files for a folder: those of the folder itself, and through above those of
// the folders around it. They are interpreted as git does. A folder with a .git starts again without outer rules,
// with those in its .git/info/exclude. Unlike in git, the rules also apply outside of a repository. nil has no rules.
type ignores struct {
	above *ignores
	base  string // path of the folder from the root, with /; "" is the root
	rules []rule // the last rule that matches decides
}

// rule is one line of a .gitignore file.
type rule struct {
	negated   bool // starts with !: a match is not ignored
	folder    bool // ends with /: matches folders only
	wholePath bool // has a / before its end: matches paths below its folder, otherwise names
	fits      func(string) bool
}

// Limits of one .gitignore file.
const (
	maxRules     = 10_000
	maxRuleBytes = 1 << 20
)

// ignored reports whether the rules ignore a file or folder. Callers must check the folders above it first: the
// contents of an ignored folder are ignored with it.
func (g *ignores) ignored(rest string, folder bool) bool {
	name := path.Base(rest)
	for ; g != nil; g = g.above {
		from := rest
		if g.base != "" {
			from = rest[len(g.base)+1:]
		}
		for i := len(g.rules) - 1; i >= 0; i-- {
			r := &g.rules[i]
			if r.folder && !folder {
				continue
			}
			if r.wholePath && r.fits(from) || !r.wholePath && r.fits(name) {
				return !r.negated
			}
		}
	}
	return false
}

// enter returns the rules inside a folder, whose path from the root is base.
func (g *ignores) enter(dir *os.Root, base string) *ignores {
	if base == "." {
		base = ""
	}
	if git, err := dir.Lstat(".git"); err == nil {
		g = nil
		if git.IsDir() {
			g = g.with(dir, ".git/info/exclude", base)
		}
	}
	return g.with(dir, ".gitignore", base)
}

// with returns the rules extended by those of one more file. Like git, it does not follow a link to such a file.
func (g *ignores) with(dir *os.Root, file, base string) *ignores {
	file = filepath.FromSlash(file)
	if info, err := dir.Lstat(file); err != nil || !info.Mode().IsRegular() {
		return g
	}
	f, _, err := openRegular(dir, file, file)
	if err != nil {
		return g
	}
	defer f.Close()
	text, err := io.ReadAll(io.LimitReader(f, maxRuleBytes))
	if rules := parseIgnore(string(text)); err == nil && len(rules) > 0 {
		return &ignores{g, base, rules}
	}
	return g
}

// ignoresOf returns the rules that apply in a folder of a root: those of every folder from the root down. It does not
// matter whether one of these folders is ignored itself, because the call asked for it.
func ignoresOf(p place) (*ignores, error) {
	at := place{path: p.root, root: p.root, rest: "."}
	parts := []string{}
	if p.rest != "." {
		parts = strings.Split(p.rest, string(filepath.Separator))
	}
	var g *ignores
	for i := 0; ; i++ {
		dir, err := at.dir()
		if err != nil {
			return nil, err
		}
		g = g.enter(dir, filepath.ToSlash(at.rest))
		dir.Close()
		if i == len(parts) {
			return g, nil
		}
		at.path, at.rest = filepath.Join(at.path, parts[i]), filepath.Join(at.rest, parts[i])
	}
}

// parseIgnore parses the lines of a .gitignore file.
func parseIgnore(text string) (rules []rule) {
	text = strings.TrimPrefix(text, "\xef\xbb\xbf")
	for line := range strings.SplitSeq(text, "\n") {
		if len(rules) == maxRules {
			break
		}
		if r, ok := parseRule(strings.TrimSuffix(line, "\r")); ok {
			rules = append(rules, r)
		}
	}
	return rules
}

func parseRule(line string) (r rule, ok bool) {
	if strings.HasPrefix(line, "#") || len(line) > maxPath {
		return r, false
	}
	line = trimBlanks(line)
	line, r.negated = strings.CutPrefix(line, "!")
	line, r.folder = strings.CutSuffix(line, "/")
	r.wholePath = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return r, false
	}
	r.fits = wildcard(line, r.wholePath)
	return r, r.fits != nil
}

// trimBlanks removes spaces at the end of a line, except those after a backslash.
func trimBlanks(line string) string {
	end := 0
	for i := 0; i < len(line); i++ {
		if line[i] == '\\' && i+1 < len(line) {
			i++
		} else if line[i] == ' ' {
			continue
		}
		end = i + 1
	}
	return line[:end]
}
