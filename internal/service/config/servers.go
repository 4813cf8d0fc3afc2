package config

import (
	"encoding/json"
	"errors"
	"fmt"
	"maps"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/internal/lang/keytable"
	"github.com/flowrun/flowrun/internal/os/editedfile"
)

// UserFile returns the settings file of the user, "" if there is none.
func UserFile() string {
	dir := UserDir()
	if dir == "" {
		return ""
	}
	return filepath.Join(dir, "config.yaml")
}

// ProjectFile returns the settings file of a project.
func ProjectFile(project string) string { return filepath.Join(project, ".flowrun", "config.yaml") }

// ServerKey is one setting of an MCP server: a text, a boolean, a list or a map of texts.
type ServerKey struct {
	Key   string
	Value any
}

// AddServer adds an MCP server to a settings file, which it creates if needed. Everything else in
// the file, with its comments, stays as it is.
func AddServer(f *editedfile.File, name string, keys []ServerKey) error {
	lines := []string{quoteKey(name) + ":"}
	for _, k := range keys {
		text, err := json.Marshal(k.Value) // JSON is YAML
		if err != nil {
			return err
		}
		lines = append(lines, "  "+k.Key+": "+string(text))
	}
	return editServers(f, name, func(b *block) error {
		if b.serverAt(name) >= 0 || b.has(name) {
			return fmt.Errorf("there is already a server %q; to replace it, remove it first", name)
		}
		return b.add(lines)
	})
}

// ErrNoServer reports that a settings file has no such server.
var ErrNoServer = errors.New("no such server")

// RemoveServer removes an MCP server from a settings file. The error is ErrNoServer if it has none
// with that name.
func RemoveServer(f *editedfile.File, name string) error {
	return editServers(f, name, func(b *block) error {
		if !b.has(name) {
			return ErrNoServer
		}
		return b.remove(name)
	})
}

// editServers changes the servers in a settings file. It writes the file only if all other settings
// keep their values.
func editServers(f *editedfile.File, name string, change func(*block) error) error {
	before, err := othersOf(f.Path, f.Text, name)
	if err != nil {
		return err
	}
	b := newBlock(f.Text)
	for key := range before.servers {
		b.names = append(b.names, key)
	}
	if err := change(b); err != nil {
		return err
	}
	text := []byte(strings.Join(b.lines, "\n"))
	after, err := othersOf(f.Path, text, name)
	if err != nil || !maps.Equal(before.values, after.values) || before.servers[name] == after.servers[name] {
		return fmt.Errorf("cannot edit mcpServers in %s, because it is written in an unusual form; edit it by hand", f.Path)
	}
	return f.Write(text)
}

// others are the settings of a file, except those of one server.
type others struct {
	values  map[string]string
	servers map[string]bool // the names of all servers
}

func othersOf(path string, src []byte, name string) (o others, err error) {
	list, _, found := keytable.DecodeSettings(file, path, src)
	if found.Err() != nil {
		return o, found.Err()
	}
	o = others{map[string]string{}, map[string]bool{}}
	for _, s := range list {
		if s.Keys[0] == servers.Key && len(s.Keys) > 1 {
			o.servers[s.Keys[1]] = true
			if s.Keys[1] == name {
				continue
			}
		}
		o.values[s.Path()] += fmt.Sprintf("%v\n", s.Value)
	}
	return o, nil
}

// block is the text of a settings file with its section mcpServers.
type block struct {
	lines     []string
	head, end int // lines of the section: head is its key, end the line after its last; head is -1 if there is none
	indent    int // of its servers
	names     []string
}

// emptySection is the section without servers.
var emptySection = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^mcpServers:\s*(\{\s*\})?\s*(#.*)?$`) })

func newBlock(src []byte) *block {
	b := &block{lines: strings.Split(string(src), "\n"), head: -1, indent: 2}
	for i, line := range b.lines {
		switch depth := depthOf(line); {
		case b.head < 0 && emptySection().MatchString(strings.TrimRight(line, "\r")):
			b.head, b.end = i, i+1
		case b.head < 0 || depth < 0:
		case depth == 0:
			return b
		default:
			if b.end == b.head+1 {
				b.indent = depth
			}
			b.end = i + 1
		}
	}
	return b
}

// depthOf returns the indentation of a line, -1 if it is empty or a comment.
func depthOf(line string) int {
	rest := strings.TrimLeft(line, " ")
	if rest = strings.TrimRight(rest, "\r"); rest == "" || rest[0] == '#' {
		return -1
	}
	return len(line) - len(strings.TrimLeft(line, " "))
}

// has reports whether the file has a server, in whatever form it is written.
func (b *block) has(name string) bool { return slices.Contains(b.names, name) }

// serverAt returns the line at which a server begins, or -1.
func (b *block) serverAt(name string) int {
	for i := b.head + 1; b.head >= 0 && i < b.end; i++ {
		key, _, found := strings.Cut(strings.TrimSpace(b.lines[i]), ":")
		if found && depthOf(b.lines[i]) == b.indent && strings.Trim(key, `"'`) == name {
			return i
		}
	}
	return -1
}

// add adds the lines of a server at the end of the section.
func (b *block) add(server []string) error {
	for i := range server {
		server[i] = strings.Repeat(" ", b.indent) + server[i]
	}
	if b.head >= 0 {
		b.lines[b.head] = strings.Replace(b.lines[b.head], "{}", "", 1)
		b.lines[b.head] = strings.TrimRight(b.lines[b.head], " ")
		b.lines = slices.Insert(b.lines, b.end, server...)
		return nil
	}
	for len(b.lines) > 0 && strings.TrimSpace(b.lines[len(b.lines)-1]) == "" {
		b.lines = b.lines[:len(b.lines)-1]
	}
	b.lines = append(append(append(b.lines, servers.Key+":"), server...), "")
	return nil
}

// remove removes the lines of a server.
func (b *block) remove(name string) error {
	from := b.serverAt(name)
	if from < 0 {
		return nil // editServers reports that nothing has changed
	}
	to := from + 1
	for i := to; i < b.end && depthOf(b.lines[i]) != b.indent; i++ {
		if depthOf(b.lines[i]) > b.indent {
			to = i + 1
		}
	}
	b.lines = slices.Delete(b.lines, from, to)
	if b.end -= to - from; !slices.ContainsFunc(b.lines[b.head+1:b.end], func(l string) bool { return depthOf(l) > 0 }) {
		b.lines[b.head] = strings.Replace(b.lines[b.head], servers.Key+":", servers.Key+": {}", 1)
	}
	return nil
}

// plainKey matches names that need no quotes.
var plainKey = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z][A-Za-z0-9_-]*$`) })

func quoteKey(name string) string {
	if plainKey().MatchString(name) {
		return name
	}
	text, _ := json.Marshal(name) // a string has a JSON form
	return string(text)
}
