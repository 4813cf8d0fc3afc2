package argparse_test

import (
	"fmt"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/model/argparse"
)

// sample is a case of testdata/corpus or testdata/outputs. README.txt in testdata/corpus
// describes the format.
type sample struct {
	class, name, why string

	schema *argparse.Schema
	tool   string
	input  string

	want     []string // possible values; none if the text must be refused
	refused  []string // possible codes, or "any"
	may      bool     // a refusal is right too
	repaired *bool    // nil for either
	defaults []string // names, if the case has them
	suggests []string // names that a refusal must suggest
	offset   int      // of a refusal; -1 if the case has none
}

// accepted reports whether the text must have a value.
func (s *sample) accepted() bool { return len(s.want) > 0 && !s.may }

// readCorpus reads the cases of testdata/corpus, class by class.
func readCorpus(t testing.TB) []*sample {
	t.Helper()
	return readCases(t, "testdata/corpus")
}

// readCases reads all cases of a folder, file by file.
func readCases(t testing.TB, folder string) []*sample {
	t.Helper()
	schemas := readSchemas(t, filepath.Join(folder, "schemas.txt"))
	files, err := filepath.Glob(filepath.Join(folder, "*.txt"))
	if err != nil {
		t.Fatal(err)
	}
	var all []*sample
	for _, file := range files {
		class := strings.TrimSuffix(filepath.Base(file), ".txt")
		if class == "README" || class == "schemas" {
			continue
		}
		text, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		r := &caseReader{class: class, lines: strings.Split(string(text), "\n"), schemas: schemas}
		if err := r.read(); err != nil {
			t.Fatalf("%s:%d: %v", file, r.at, err)
		}
		all = append(all, r.cases...)
	}
	return all
}

// readSchemas reads the declared parameters that cases share: a line `NAME: JSON` each.
func readSchemas(t testing.TB, file string) map[string]*argparse.Schema {
	t.Helper()
	text, err := os.ReadFile(file)
	if err != nil {
		t.Fatal(err)
	}
	schemas := map[string]*argparse.Schema{}
	for _, line := range strings.Split(string(text), "\n") {
		if strings.TrimSpace(line) == "" || strings.HasPrefix(line, "#") {
			continue
		}
		name, doc, ok := strings.Cut(line, ": ")
		if !ok {
			t.Fatalf("schemas.txt: %q", line)
		}
		s, err := argparse.ReadParameters([]byte(doc))
		if err != nil {
			t.Fatalf("schemas.txt: %s: %v", name, err)
		}
		schemas[name] = s
	}
	if pd := schemas["pd"]; pd != nil {
		open := *pd
		open.Open = true
		schemas["open"] = &open
	}
	return schemas
}

// caseReader reads a file of cases.
type caseReader struct {
	class   string
	lines   []string
	at      int // index of the next line
	schemas map[string]*argparse.Schema
	schema  string // of cases without their own
	tool    string
	why     string
	cases   []*sample
}

func (r *caseReader) read() error {
	var now *sample
	for r.at < len(r.lines) {
		line := r.lines[r.at]
		r.at++
		switch {
		case line == "" || strings.HasPrefix(line, "#"):
			continue
		case strings.HasPrefix(line, "=== "):
			if err := r.keep(now); err != nil {
				return err
			}
			now = &sample{class: r.class, name: line[4:], why: r.why, tool: r.tool, schema: r.schemas[r.schema], offset: -1}
			continue
		}
		key, value, _ := strings.Cut(line, ":")
		value = strings.TrimPrefix(value, " ")
		if err := r.field(now, key, value); err != nil {
			return err
		}
	}
	return r.keep(now)
}

// keep adds a complete case.
func (r *caseReader) keep(s *sample) error {
	switch {
	case s == nil:
		return nil
	case s.schema == nil:
		return fmt.Errorf("%s: no schema", s.name)
	case s.why == "":
		return fmt.Errorf("%s: no reason", s.name)
	case len(s.want) == 0 && len(s.refused) == 0:
		return fmt.Errorf("%s: no expectation", s.name)
	}
	for _, old := range r.cases {
		if old.name == s.name {
			return fmt.Errorf("%s: twice", s.name)
		}
	}
	r.cases = append(r.cases, s)
	return nil
}

func (r *caseReader) field(s *sample, key, value string) error {
	if s == nil { // the top of the file
		switch key {
		case "for":
			r.schema = value
		case "tool":
			r.tool = value
		case "why":
			r.why = value
		default:
			return fmt.Errorf("%q before the first case", key)
		}
		return nil
	}
	yes, no := true, false
	switch key {
	case "why":
		s.why = value
	case "source": // where the form was seen
	case "for":
		s.schema = r.schemas[value]
	case "tool":
		s.tool = value
	case "in":
		s.input = value
	case "in<<":
		return r.block(s)
	case "literal":
		text, err := strconv.Unquote(value)
		s.input = text
		return err
	case "repeat":
		count, literal, _ := strings.Cut(value, " ")
		n, err := strconv.Atoi(count)
		if err != nil {
			return err
		}
		text, err := strconv.Unquote(literal)
		s.input += strings.Repeat(text, n)
		return err
	case "valid":
		s.want, s.repaired = append(s.want, value), &no
	case "repaired":
		s.want, s.repaired = append(s.want, value), &yes
	case "accepted":
		s.want = append(s.want, value)
	case "either":
		s.want, s.may = append(s.want, value), true
	case "refused":
		s.refused = strings.Split(value, "|")
	case "defaults":
		s.defaults = strings.Fields(value)
	case "suggests":
		s.suggests = strings.Fields(value)
	case "offset":
		n, err := strconv.Atoi(value)
		s.offset = n
		return err
	default:
		return fmt.Errorf("unknown field %q", key)
	}
	return nil
}

// block reads the lines up to >>.
func (r *caseReader) block(s *sample) error {
	from := r.at
	for r.at < len(r.lines) {
		r.at++
		if r.lines[r.at-1] == ">>" {
			s.input = strings.Join(r.lines[from:r.at-1], "\n")
			return nil
		}
	}
	return fmt.Errorf("%s: no >>", s.name)
}
