// Package denied finds out which permissions a command lacked, from what it printed.
package denied

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/internal/engine/permission"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// maxMissing is how many missing permissions the message of a step names.
const maxMissing = 5

// Command is a command that has failed while its permissions were enforced.
type Command struct {
	Grants    permission.Grants
	Workspace string
	Dir       string
	Program   string   // "": not known
	Script    string   // without its values
	Made      []string // folders that were made for its permissions
	Withheld  []string // variables that its script names and that it did not get
}

// Message says which permissions the command lacked, as far as what it printed and its script show, and otherwise what it
// could not do at all. "" means that nothing is known. The kernel denies silently, and many programs do not say what they
// were denied.
func (c *Command) Message(outputs ...string) string {
	missing := c.missing(outputs)
	if len(missing) > maxMissing {
		missing = missing[:maxMissing]
	}
	if len(missing) > 0 {
		return fmt.Sprintf("the permissions of this tool are enforced, and it lacks %s: list what it needs in security.required-permissions", strings.Join(quoted(missing), ", "))
	}
	if limits := c.limitsInWords(); limits != "" {
		return "the permissions of this tool are enforced: " + limits
	}
	return ""
}

func quoted(list []string) (out []string) {
	for _, s := range list {
		out = append(out, fmt.Sprintf("%q", s))
	}
	return out
}

// limitsInWords says what the command could not do at all, and what allows it.
func (c *Command) limitsInWords() string {
	read, _, _ := c.Grants.Files()
	var list []string
	if len(read) == 0 {
		list = append(list, `it can read no files of the project ("filesystem:read:." allows that)`)
	}
	if len(c.Grants.Hosts()) == 0 {
		list = append(list, `it has no network ("network:external:HOST" allows one host)`)
	}
	if len(list) == 0 {
		return ""
	}
	return strings.Join(list, " and ") + ": list what it needs in security.required-permissions"
}

// missing returns the permissions that the command lacked.
func (c *Command) missing(outputs []string) (list []string) {
	messages.Do(compileMessages)
	add := func(p string) {
		if p != "" && !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	for _, text := range outputs {
		for line := range strings.Lines(text) {
			switch lower := strings.ToLower(line); {
			case strings.Contains(lower, "is a directory"):
				add(c.missingForFile(line))
			case contains(lower, signsOfDeniedFile):
				add(c.missingFile(line))
			case contains(lower, signsOfNoNetwork):
				add(c.missingHost(line))
			}
		}
	}
	for _, name := range c.Withheld {
		add(permission.EnvironmentPrefix + name)
	}
	return list
}

// What programs print to whom the kernel denies a file, and to whom it denies the network.
var (
	signsOfDeniedFile = []string{"permission denied", "operation not permitted", "eacces", "eperm", noRepository}
	signsOfNoNetwork  = []string{"name resolution", "resolve host", "network is unreachable", "getaddrinfo", "nodename nor servname", "couldn't connect", "could not connect", "failed to connect"}
	signsOfChange     = []string{"cannot create", "cannot touch", "cannot remove", "cannot move", "create directory", "for writing"}
)

// noRepository is what git says when it cannot read its folder.
const noRepository = "not a git repository"

func contains(s string, any []string) bool {
	return slices.ContainsFunc(any, func(sign string) bool { return strings.Contains(s, sign) })
}

// messages are patterns of parts of messages, compiled when a step has failed.
var messages struct {
	sync.Once
	host, quoted *regexp.Regexp
}

func compileMessages() {
	messages.host = regexp.MustCompile(`(?i)(?:host:? '?|connect to |address '?|ENOTFOUND |EAI_AGAIN )([a-z0-9][a-z0-9.-]*[a-z0-9])`)
	messages.quoted = regexp.MustCompile("['\"`‘]([^'\"`’]+)['\"`’]")
}

// missingHost returns the permission for the host that a program could not reach, "" if the network was not denied.
func (c *Command) missingHost(line string) string {
	if len(c.Grants.Hosts()) > 0 {
		return "" // its proxy knows what it refused: that is another message
	}
	if m := messages.host.FindStringSubmatch(line); m != nil && strings.Contains(m[1], ".") {
		return "network:external:" + m[1]
	}
	return "network:external:HOST"
}

// missingFile returns the permission for the file that a program names in a message, "" if it names none that was
// denied.
func (c *Command) missingFile(line string) string {
	lower := strings.ToLower(line)
	if strings.Contains(lower, noRepository) {
		return c.missingRepository()
	}
	for _, sign := range signsOfDeniedFile {
		if i := strings.Index(lower, sign); i > 0 && len(lower) == len(line) {
			line = line[:i] // what follows is not about the file
			break
		}
	}
	last := ""
	for _, word := range wordsOf(line) {
		path := word
		if !filepath.IsAbs(path) {
			path = filepath.Join(c.Dir, path)
		}
		if c.Program != "" && word == c.Program {
			continue // the program itself, which it may use
		}
		if _, err := os.Lstat(path); err != nil {
			last = path
			continue
		}
		change := contains(lower, signsOfChange) || c.redirectsTo(word)
		if verb := c.deniedFile(path, change); verb != "" {
			return "filesystem:" + verb + ":" + c.written(path)
		}
	}
	if folder := filepath.Dir(last); last != "" && filepath.IsAbs(folder) && !strings.ContainsRune(filepath.Base(last), ' ') && c.cannotWrite(folder) {
		return "filesystem:write:" + c.written(folder) // the name in front of the sign is that of a file to be made
	}
	return ""
}

// cannotWrite reports whether a folder exists and may not be written.
func (c *Command) cannotWrite(folder string) bool {
	_, _, denied := c.Grants.Writable(folder)
	info, err := os.Stat(folder)
	return denied != nil && err == nil && info.IsDir()
}

// missingRepository returns the permission to read the repository of git that the command started in.
func (c *Command) missingRepository() string {
	for dir := c.Dir; filepath.IsAbs(dir); dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			if _, _, denied := c.Grants.Readable(dir); denied != nil {
				return permission.ReadPrefix + c.written(dir)
			}
			return ""
		}
		if dir == filepath.Dir(dir) {
			break
		}
	}
	return ""
}

// missingForFile returns the permission to make a file where makeGranted made a folder, "" if the line is not about one.
func (c *Command) missingForFile(line string) string {
	for _, word := range wordsOf(line) {
		if path := filepath.Join(c.Dir, word); slices.Contains(c.Made, path) || slices.Contains(c.Made, word) {
			return "filesystem:write:" + c.written(filepath.Dir(path))
		}
	}
	return ""
}

// wordsOf returns the parts of a message that may be paths, the likeliest last: what is between colons, and what is in
// quotes.
func wordsOf(line string) (words []string) {
	for part := range strings.SplitSeq(line, ":") {
		part = strings.Trim(part, quotes)
		words = append(words, part)
		if i := strings.LastIndexByte(part, ' '); i >= 0 { // cannot open PATH
			words = append(words, strings.Trim(part[i+1:], quotes))
		}
	}
	for _, m := range messages.quoted.FindAllStringSubmatch(line, -1) {
		words = append(words, m[1])
	}
	return slices.DeleteFunc(words, func(w string) bool { return w == "" || strings.ContainsRune(w, 0) })
}

const quotes = " \t\r\n'\"`‘’"

// redirectsTo reports whether the script of the command writes into a file with > of a shell.
func (c *Command) redirectsTo(word string) bool {
	script := strings.NewReplacer("> ", ">", `"`, "", "'", "").Replace(c.Script)
	return strings.Contains(script, ">"+word)
}

// deniedFile returns what the command needs for a file or folder that a message names: read, write or execute, "" if
// nothing of it was denied. change says that it was to be changed, for all that is known.
func (c *Command) deniedFile(path string, change bool) (verb string) {
	info, err := os.Lstat(path)
	if err != nil || isSystemPath(path) {
		return ""
	}
	_, _, noWrite := c.Grants.Writable(path)
	_, _, noRead := c.Grants.Readable(path)
	switch {
	case noWrite != nil && change:
		return "write"
	case info.Mode().IsRegular() && info.Mode()&0o111 != 0 && c.Grants.Execute(path, path) != nil:
		return "execute"
	case noRead != nil:
		return "read"
	case noWrite != nil:
		return "write"
	}
	return ""
}

// isSystemPath reports whether a path is that of a system program, which each message can begin with.
func isSystemPath(path string) bool {
	for _, dir := range []string{"/usr", "/bin", "/sbin", "/lib", "/proc", "/dev"} {
		if path == dir || strings.HasPrefix(path, dir+"/") {
			return true
		}
	}
	return path == "/"
}

// written returns a path as a permission writes it: relative paths start at the workspace.
func (c *Command) written(path string) string {
	if rel, err := filepath.Rel(c.Workspace, path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// NamesVariable reports whether a script reads a variable: $NAME and ${NAME in shells, %NAME% in cmd, a quoted name or
// .NAME elsewhere.
func NamesVariable(script, name string) bool {
	for rest := script; ; {
		i := strings.Index(rest, name)
		if i < 0 {
			return false
		}
		before, after := rest[:i], rest[i+len(name):]
		rest = after
		if after != "" && value.IsVariableName("x"+after[:1]) {
			continue
		}
		for _, sign := range []string{"$", "${", "${#", "%", `'`, `"`, "env.", "$env:"} {
			if strings.HasSuffix(before, sign) {
				return true
			}
		}
	}
}
