package clientconfig

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/pelletier/go-toml/v2"
)

// readTOML returns the values of a TOML text.
func readTOML(text []byte) (map[string]any, error) {
	values := map[string]any{}
	if err := toml.Unmarshal(text, &values); err != nil {
		return nil, fmt.Errorf("invalid TOML: %s", strings.TrimPrefix(err.Error(), "toml: "))
	}
	return values, nil
}

// tomlEdits returns texts that may be the text with the table KEY.NAME: for each line that looks like
// its header, the text with another table there, and the text with a new table at the end. A line
// can also be part of a string with several lines, which only a parser knows.
func tomlEdits(text []byte, key, name string, members []member) (edits [][]byte) {
	header := "[" + key + "." + tableName(name) + "]"
	entry := header + "\n"
	for _, m := range members {
		entry += m.name + " = " + quote(m.value) + "\n"
	}
	lines := strings.SplitAfter(string(text), "\n")
	for i, line := range lines {
		if strings.TrimSpace(line) != header {
			continue
		}
		end := i + 1
		for end < len(lines) && !strings.HasPrefix(strings.TrimSpace(lines[end]), "[") {
			end++
		}
		edits = append(edits, []byte(strings.Join(lines[:i], "")+keepOthers(entry, lines[i+1:end], members)+strings.Join(lines[end:], "")))
	}
	before := string(text)
	if before != "" && !strings.HasSuffix(before, "\n") {
		before += "\n"
	}
	if before != "" {
		before += "\n"
	}
	return append(edits, []byte(before+entry))
}

// keepOthers returns the entry of a server with what the table has besides its members.
func keepOthers(entry string, table []string, members []member) string {
	skip := false // inside an array with several lines
	for _, line := range table {
		name, value, assigned := strings.Cut(line, "=")
		switch name = strings.TrimSpace(name); {
		case skip:
			skip = !strings.Contains(line, "]")
		case assigned && slices.ContainsFunc(members, func(m member) bool { return m.name == name }):
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
