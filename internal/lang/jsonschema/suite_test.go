package jsonschema

import (
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

type suiteGroup struct {
	Description string
	Schema      json.RawMessage
	Tests       []struct {
		Description string
		Data        json.RawMessage
		Valid       bool
	}
}

// TestSuite runs the official JSON-Schema-Test-Suite. References to other documents are rejected by design. The number of
// such cases is fixed, so that no other failure hides among them.
func TestSuite(t *testing.T) {
	files, err := filepath.Glob("testdata/suite/*/*.json")
	if err != nil {
		t.Fatal(err)
	}
	held, elsewhere := 0, 0
	for _, file := range files {
		b, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		var groups []suiteGroup
		if err := json.Unmarshal(b, &groups); err != nil {
			t.Fatal(err)
		}
		name := strings.TrimSuffix(strings.TrimPrefix(filepath.ToSlash(file), "testdata/suite/"), ".json")
		for _, g := range groups {
			if n := runGroup(t, name, g); n > 0 {
				held += n
			} else {
				elsewhere++
			}
		}
	}
	if held != 1937 || elsewhere != 35 {
		t.Errorf("%d cases were held, and %d groups refer to other documents", held, elsewhere)
	}
}

// runGroup returns how many cases were checked: none if the schema refers to another document.
func runGroup(t *testing.T, file string, g suiteGroup) int {
	doc := decode(t, g.Schema)
	if m, ok := doc.(map[string]any); ok && strings.HasPrefix(file, "draft7") && m["$schema"] == nil {
		m["$schema"] = dialect7
	}
	s, bad := Compile(doc)
	for _, p := range bad {
		if !strings.HasSuffix(p.Message, "is in another document; references work only within the same document") {
			t.Errorf("%s: %s: %v", file, g.Description, p)
		}
	}
	if bad != nil {
		return 0
	}
	for _, c := range g.Tests {
		if got := s.Validate(decode(t, c.Data)); (len(got) == 0) != c.Valid {
			t.Errorf("%s: %s: %s: valid should be %v, problems: %v", file, g.Description, c.Description, c.Valid, got)
		}
	}
	return len(g.Tests)
}

func decode(t testing.TB, b []byte) (v any) {
	t.Helper()
	d := json.NewDecoder(strings.NewReader(string(b)))
	d.UseNumber()
	if err := d.Decode(&v); err != nil {
		t.Fatal(err)
	}
	return v
}
