package builtin

import (
	"io"
	"os"
	"path"
	"path/filepath"
	"strings"
)

// ignores are the rules of .gitignore files that hold in a folder: its own, and above them
// those of the folders around it. They read as git reads them; a folder with a .git begins
// anew, with the rules in its .git/info/exclude. Unlike git's they hold without a
// repository, too. nil has no rules.
type ignores struct {
	above *ignores
	base  string // the folder, as reached from the root, with /; "" is the root
	rules []rule // the last that fits decides
}

// rule is one line of a .gitignore file.
type rule struct {
	keep   bool // it begins with !: what fits is not left out
	folder bool // it ends with /: it is for folders alone
	full   bool // it has a / before its end: it is about paths from its folder on, else about names
	fits   func(string) bool
}

// Bounds of one .gitignore file.
const (
	maxRules     = 10_000
	maxRuleBytes = 1 << 20
)

// ignored says whether the rules leave out a file or folder. The folders above it must
// have been asked about before: what is in one that is left out is left out with it.
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
			if r.full && r.fits(from) || !r.full && r.fits(name) {
				return !r.keep
			}
		}
	}
	return false
}

// enter are the rules inside a folder, which is reached from the root by base.
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

// with are the rules and those of one file more. git follows no links to such files.
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

// ignoresOf are the rules that hold in a folder of a root: those of every folder on the
// way. That a folder on the way is left out itself does not count: somebody asked for it.
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

// parseIgnore reads the lines of a .gitignore file.
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
	line, r.keep = strings.CutPrefix(line, "!")
	line, r.folder = strings.CutSuffix(line, "/")
	r.full = strings.Contains(line, "/")
	line = strings.TrimPrefix(line, "/")
	if line == "" {
		return r, false
	}
	r.fits = wildcard(line, r.full)
	return r, r.fits != nil
}

// trimBlanks takes blanks from a line's end that no backslash stands before.
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
