package steps

import (
	"fmt"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/engine/notice"
	"github.com/flowrun/flowrun/internal/engine/permission"
)

// maxMissing is how many missing permissions the message of a step names.
const maxMissing = 5

// explainEnforced says in the Result of a failed enforced attempt which permissions it lacked, as far as its messages
// and its script show. The kernel denies silently, and many programs do not say what they were denied.
func (t *start) explainEnforced(r *dag.Result) {
	if !t.confine.Enforced || r.Status == dag.Succeeded || r.Message != "" {
		return
	}
	missing := t.missing(r)
	if len(missing) > maxMissing {
		missing = missing[:maxMissing]
	}
	if len(missing) > 0 {
		r.Message = fmt.Sprintf("the permissions of this tool are enforced, and it lacks %s: list what it needs in security.required-permissions", strings.Join(quoted(missing), ", "))
		return
	}
	if limits := t.limitsInWords(); limits != "" {
		r.Message = "the permissions of this tool are enforced: " + limits
	}
}

func quoted(list []string) (out []string) {
	for _, s := range list {
		out = append(out, fmt.Sprintf("%q", s))
	}
	return out
}

// limitsInWords says what the attempt could not do at all, and what allows it.
func (t *start) limitsInWords() string {
	read, _, _ := t.confine.Grants.Files()
	var list []string
	if len(read) == 0 {
		list = append(list, `it can read no files of the project ("filesystem:read:." allows that)`)
	}
	if len(t.confine.Grants.Hosts()) == 0 {
		list = append(list, `it has no network ("network:external:HOST" allows one host)`)
	}
	if len(list) == 0 {
		return ""
	}
	return strings.Join(list, " and ") + ": list what it needs in security.required-permissions"
}

// missing returns the permissions that the attempt lacked.
func (t *start) missing(r *dag.Result) (list []string) {
	messages.Do(compileMessages)
	add := func(p string) {
		if p != "" && !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	for _, out := range []*dag.Output{r.Stderr, r.Stdout} {
		if out == nil {
			continue
		}
		for line := range strings.Lines(out.Inline) {
			switch lower := strings.ToLower(line); {
			case strings.Contains(lower, "is a directory"):
				add(t.missingForFile(line))
			case contains(lower, signsOfDeniedFile):
				add(t.missingFile(line))
			case contains(lower, signsOfNoNetwork):
				add(t.missingHost(line))
			}
		}
	}
	for _, name := range t.withheld {
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
func (t *start) missingHost(line string) string {
	if len(t.confine.Grants.Hosts()) > 0 {
		return "" // its proxy knows what it refused: see networkPlace.explain
	}
	if m := messages.host.FindStringSubmatch(line); m != nil && strings.Contains(m[1], ".") {
		return "network:external:" + m[1]
	}
	return "network:external:HOST"
}

// missingFile returns the permission for the file that a program names in a message, "" if it names none that was
// denied.
func (t *start) missingFile(line string) string {
	lower := strings.ToLower(line)
	if strings.Contains(lower, noRepository) {
		return t.missingRepository()
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
			path = filepath.Join(t.dir, path)
		}
		if len(t.launch.argv) > 0 && word == t.launch.argv[0] {
			continue // the program itself, which it may use
		}
		if _, err := os.Lstat(path); err != nil {
			last = path
			continue
		}
		change := contains(lower, signsOfChange) || t.redirectsTo(word)
		if verb := t.deniedFile(path, change); verb != "" {
			return "filesystem:" + verb + ":" + t.written(path)
		}
	}
	if folder := filepath.Dir(last); last != "" && filepath.IsAbs(folder) && !strings.ContainsRune(filepath.Base(last), ' ') && t.cannotWrite(folder) {
		return "filesystem:write:" + t.written(folder) // the name in front of the sign is that of a file to be made
	}
	return ""
}

// cannotWrite reports whether a folder exists and may not be written.
func (t *start) cannotWrite(folder string) bool {
	_, _, denied := t.confine.Grants.Writable(folder)
	return denied != nil && isFolder(folder)
}

// missingRepository returns the permission to read the repository of git that the attempt started in.
func (t *start) missingRepository() string {
	for dir := t.dir; filepath.IsAbs(dir); dir = filepath.Dir(dir) {
		if _, err := os.Lstat(filepath.Join(dir, ".git")); err == nil {
			if _, _, denied := t.confine.Grants.Readable(dir); denied != nil {
				return permission.ReadPrefix + t.written(dir)
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
func (t *start) missingForFile(line string) string {
	for _, word := range wordsOf(line) {
		if path := filepath.Join(t.dir, word); slices.Contains(t.made, path) || slices.Contains(t.made, word) {
			return "filesystem:write:" + t.written(filepath.Dir(path))
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

// redirectsTo reports whether the script of the attempt writes into a file with > of a shell.
func (t *start) redirectsTo(word string) bool {
	if t.Template == nil {
		return false
	}
	script := strings.NewReplacer("> ", ">", `"`, "", "'", "").Replace(t.Template.LiteralText())
	return strings.Contains(script, ">"+word)
}

// deniedFile returns what the attempt needs for a file or folder that a message names: read, write or execute, "" if
// nothing of it was denied. change says that it was to be changed, for all that is known.
func (t *start) deniedFile(path string, change bool) (verb string) {
	info, err := os.Lstat(path)
	if err != nil || isSystemPath(path) {
		return ""
	}
	_, _, noWrite := t.confine.Grants.Writable(path)
	_, _, noRead := t.confine.Grants.Readable(path)
	switch {
	case noWrite != nil && change:
		return "write"
	case info.Mode().IsRegular() && info.Mode()&0o111 != 0 && t.confine.Grants.Execute(path, path) != nil:
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
func (t *start) written(path string) string {
	if rel, err := filepath.Rel(t.frame.Resolve("."), path); err == nil && filepath.IsLocal(rel) {
		return filepath.ToSlash(rel)
	}
	return path
}

// noteWithheld finds the inherited variables that the script of the attempt names and that it does not get, because its
// permissions are enforced. Most shells read an unset variable as empty, so nothing else would say so.
func (t *start) noteWithheld(base environ) {
	if !t.confine.Enforced || t.Template == nil {
		return
	}
	script := t.Template.LiteralText()
	for _, kv := range base.list {
		name := nameOf(kv)
		if lookup(t.env, name) == "" && namesVariable(script, name) {
			t.withheld = append(t.withheld, name)
			t.session.Notify(notice.Notice{Code: notice.Withheld, Step: t.call.Path, Message: fmt.Sprintf(
				"the variable %s is set, but not for this step, whose permissions are enforced: to pass it on, list %q in security.required-permissions", name, permission.EnvironmentPrefix+name)})
		}
	}
}

// namesVariable reports whether a script reads a variable: $NAME and ${NAME in shells, %NAME% in cmd, a quoted name or
// .NAME elsewhere.
func namesVariable(script, name string) bool {
	for rest := script; ; {
		i := strings.Index(rest, name)
		if i < 0 {
			return false
		}
		before, after := rest[:i], rest[i+len(name):]
		rest = after
		if after != "" && permission.IsVariableName("x"+after[:1]) {
			continue
		}
		for _, sign := range []string{"$", "${", "${#", "%", `'`, `"`, "env.", "$env:"} {
			if strings.HasSuffix(before, sign) {
				return true
			}
		}
	}
}
