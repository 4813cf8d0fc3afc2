package clientconfig

import (
	"errors"
	"regexp"
	"strings"
	"sync"
)

// addTOML sets the table KEY.NAME of a TOML text. It works on lines, so that everything else stays
// as it is. If the server is written in another form than a table of its own, it is an error.
func addTOML(text []byte, key string, s Server) ([]byte, error) {
	header := "[" + key + "." + tableName(s.Name) + "]"
	entry := header + "\ncommand = " + quote(s.Command) + "\nargs = " + quoteAll(s.Args) + "\n"
	lines := strings.SplitAfter(string(text), "\n")
	for i, line := range lines {
		if strings.TrimSpace(line) != header {
			continue
		}
		end := i + 1
		for end < len(lines) && !strings.HasPrefix(strings.TrimSpace(lines[end]), "[") {
			end++
		}
		return []byte(strings.Join(lines[:i], "") + keepOthers(entry, lines[i+1:end]) + strings.Join(lines[end:], "")), nil
	}
	if otherForm(string(text), key, s.Name) {
		return nil, errors.New("the file describes this server in a form that flowrun does not change")
	}
	before := string(text)
	if before != "" && !strings.HasSuffix(before, "\n") {
		before += "\n"
	}
	if before != "" {
		before += "\n"
	}
	return []byte(before + entry), nil
}

// keepOthers returns the entry of a server with what the table has besides command and args.
func keepOthers(entry string, table []string) string {
	skip := false // inside an array with several lines
	for _, line := range table {
		name, value, assigned := strings.Cut(line, "=")
		switch name = strings.TrimSpace(name); {
		case skip:
			skip = !strings.Contains(line, "]")
		case assigned && (name == "command" || name == "args"):
			skip = strings.Contains(value, "[") && !strings.Contains(value, "]")
		default:
			entry += line
		}
	}
	return entry
}

// bareName is a name that needs no quotes in TOML.
var bareName = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`^[A-Za-z0-9_-]+$`)
})

func tableName(name string) string {
	if bareName().MatchString(name) {
		return name
	}
	return quote(name)
}

// otherForm reports whether the text describes the server, or all servers, in an inline table or
// with dotted keys.
func otherForm(text, key, name string) bool {
	n := regexp.QuoteMeta(name)
	k := regexp.QuoteMeta(key)
	return regexp.MustCompile(`(?m)^\s*(` + k + `\s*=|` + k + `\s*\.\s*["']?` + n + `["']?\s*[.=]|\[\s*` + k + `\s*\.\s*["']?` + n + `["']?\s*\]|\[\s*` + k + `\s*\]\s*$)`).MatchString(text)
}
