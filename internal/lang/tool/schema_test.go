package tool

import (
	"bytes"
	"encoding/json"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/santhosh-tekuri/jsonschema/v6"
	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/keytable"
)

func compileSchema(t testing.TB) *jsonschema.Schema {
	t.Helper()
	b, err := json.Marshal(Schema())
	if err != nil {
		t.Fatal(err)
	}
	doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
	if err != nil {
		t.Fatal(err)
	}
	c := jsonschema.NewCompiler()
	if err := c.AddResource("tool.json", doc); err != nil {
		t.Fatal(err)
	}
	s, err := c.Compile("tool.json")
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// fromYAML is a document as an editor hands it to a schema. ok is false where it
// is not a single document of JSON values.
func fromYAML(src []byte) (v any, ok bool) {
	defer func() { ok = ok && recover() == nil }()
	if err := yaml.Unmarshal(src, &v); err != nil {
		return nil, false
	}
	v, ok = jsonValue(v)
	return v, ok
}

func jsonValue(v any) (any, bool) {
	switch v := v.(type) {
	case time.Time: // a date is text to everybody but yaml.v3
		return v.Format(time.DateOnly), true
	case []any:
		for i := range v {
			item, ok := jsonValue(v[i])
			if !ok {
				return nil, false
			}
			v[i] = item
		}
	case map[string]any:
		for k := range v {
			item, ok := jsonValue(v[k])
			if !ok {
				return nil, false
			}
			v[k] = item
		}
	case map[any]any:
		return nil, false
	}
	return v, true
}

// TestSchemaGood: what loads without a diagnostic is valid.
func TestSchemaGood(t *testing.T) {
	s := compileSchema(t)
	good := 0
	for name, src := range definitions(t) {
		_, found := DecodeDocument(name, src)
		if slices.ContainsFunc(found, func(d Diagnostic) bool { return d.Code != "name-differs" }) {
			continue
		}
		v, ok := fromYAML(src)
		if !ok {
			continue // repaired by the decoder
		}
		good++
		if err := s.Validate(v); err != nil {
			t.Errorf("%s loads but is not valid: %v", name, err)
		}
	}
	if good < 80 {
		t.Errorf("only %d good definitions were looked at", good)
	}
}

// definitions are those of the examples, of the specification and of the scripts
// that test commands.
func definitions(t *testing.T) map[string][]byte {
	all := map[string][]byte{}
	for _, glob := range []string{"../../../examples/*.yaml", "testdata/spec001/*.yaml", "../../cli/testdata/*.txtar"} {
		files, err := filepath.Glob(glob)
		if err != nil || len(files) == 0 {
			t.Fatalf("no %s: %v", glob, err)
		}
		for _, file := range files {
			src := readFile(t, file)
			name := strings.TrimSuffix(filepath.Base(file), filepath.Ext(file))
			if filepath.Ext(file) == ".yaml" {
				if around := spec001[name].around; strings.Contains(around, "%s") {
					src = append(fmt.Appendf(nil, around, name), src...)
				}
				all[file] = src
				continue
			}
			parts := strings.Split("\n"+string(src), "\n-- ")
			for _, part := range parts[1:] {
				if inner, text, _ := strings.Cut(part, " --\n"); strings.HasSuffix(inner, ".yaml") {
					all[file+"/"+inner] = []byte(text + "\n")
				}
			}
		}
	}
	return all
}

// blind are the files of testdata/bad, here and in package keytable, that a schema takes: what is wrong there
// (or only warned of) is how the text is written, or what its parts say of each
// other.
var blind = []string{
	"alternative", "bad-min-version", "bad-name-device", "bad-rules", "cache-interactive", "duplicate-step", "group-names-twice", "handler-of-handler", "handler-wait-outside",
	"loop-as", "merge-in-security", "name-differs", "name-taken", "no-description", "number-rules", "octal", "octal-number", "output-schema", "own-example-refused", "resource", "retry-run", "second-document",
	"second-document-broken", "shell-template", "state-empty", "test-expectations", "test-parameter", "two-timeouts", "type-mismatch", "unknown-step", "unknown-tag",
}

// TestSchemaBad: the bad files are not valid, those aside that no schema can see
// through.
func TestSchemaBad(t *testing.T) {
	s := compileSchema(t)
	files, err := filepath.Glob("../*/testdata/bad/*.yaml")
	if err != nil {
		t.Fatal(err)
	}
	seen := 0
	for _, file := range files {
		v, ok := fromYAML(readFile(t, file))
		if !ok {
			continue
		}
		seen++
		name := strings.TrimSuffix(filepath.Base(file), ".yaml")
		if valid := s.Validate(v) == nil; valid != slices.Contains(blind, name) {
			t.Errorf("%s: valid %v", name, valid)
		}
	}
	if seen < 25 {
		t.Errorf("only %d bad files were looked at", seen)
	}
}

// TestSchemaValues gives values of every kind to the schema and to the decoder,
// which have to agree.
func TestSchemaValues(t *testing.T) {
	s := compileSchema(t)
	for _, c := range []struct {
		line  string
		valid bool
	}{
		{"bash: x", true}, {"bash: 5", true}, {"bash: true", true}, {"bash:", false}, {"bash: [x]", false}, {"bash: {A: b}", false},
		{"bash: x\nrun: y", false}, {"version: 1.2", false}, {"x-mine: 1", false}, {"bash: x\nx-mine: [1]", true},
		{"bash: x\ntiemout: 1", false}, {"bash: x\ntags: read", true}, {"bash: x\ntags: [read, 1]", true}, {"bash: x\ntags: {a: b}", false},
		{"bash: x\nplatforms: linux", true}, {"bash: x\nplatforms: [linux, macos]", true}, {"bash: x\nplatforms: [amiga]", false},
		{"bash: x\nstrict: true", true}, {"bash: x\nstrict: yes", false}, {"bash: x\nstrict: 1", false},
		{"bash: x\ntimeout: 5", true}, {"bash: x\ntimeout: 1m30s", true}, {"bash: x\ntimeout: 1.5h", true}, {"bash: x\ntimeout: .5s", true},
		{"bash: x\ntimeout: 999us", false}, {"bash: x\ntimeout: 5.5µs", false}, {"bash: x\ntimeout: 999999ns", false}, {"bash: x\ntimeout: 1000us", true}, {"bash: x\ntimeout: 1s5us", true},
		{"bash: x\nversion: one", false}, {"bash: x\nversion: v1", true}, {"bash: x\nversion: 1.0.0-rc.1+b", true}, {"bash: x\nversion: 1.0.0.0", false},
		{"bash: x\nschedule: {cron: 0 7 * * *, every: 5m}", false}, {"bash: x\nschedule: [{name: n}]", false}, {"bash: x\nschedule: 0 7 * * *", true}, {"bash: x\nschedule: {every: 5m}", true},
		{"steps: [{name: a, bash: x, for-each: {items: [1]}, matrix: {a: [1]}}]", false}, {"steps: [{name: a, bash: x, for-each: {items: 1..5}}]", true},
		{"steps: [{name: a, bash: x, for-each: {items: 5}}]", false}, {"steps: [{name: a, bash: x, matrix: {}}]", false}, {"steps: [{name: a, bash: x, matrix: {include: [{a: 1}]}}]", true},
		{"bash: x\nstate: {A: 1}", false}, {"bash: x\nstate: {A: float}", false}, {"bash: x\nstate: {A: integer, B: {type: array}}", true},
		{"bash: x\noutputs: {v: float}", false}, {"bash: x\noutputs: {v: integer, w: {type: array}}", true}, {"bash: x\noutputs: {1v: string}", false},
		{"steps: [{name: a, bash: x, outputs: {v: float}}]", false}, {"steps: [{name: a, bash: x, outputs: {v: string}}]\noutputs: {v: '{a.outputs.v}', w: text}", true},
		{"steps: [{name: g, steps: [{name: a, bash: x}], outputs: {v: '{a.output}'}}]", true},
		{"bash: x\nenvironment: {secrets: [{name: A}]}", false}, {"bash: x\nenvironment: {secrets: [{name: A, env: B, file: c}]}", false}, {"bash: x\nenvironment: {secrets: [A, {name: B, env: C}]}", true},
		{"bash: x\ntimeout: 1.s", true}, {"bash: x\ntimeout: +5s", true}, {"bash: x\ntimeout: 1500µs", true},
		{"bash: x\ntimeout: 0", false}, {"bash: x\ntimeout: -1", false}, {"bash: x\ntimeout: '5'", false}, {"bash: x\ntimeout: soon", false},
		{"bash: x\ntimeout: 1.5", false}, {"bash: x\ntimeout: 31536000001", false}, {"bash: x\ntimeout: 31536000000", true},
		{"bash: x\nresources: {max-memory: 5}", true}, {"bash: x\nresources: {max-memory: 5 KiB}", true}, {"bash: x\nresources: {max-memory: '7'}", true},
		{"bash: x\nresources: {max-memory: 0}", false}, {"bash: x\nresources: {max-memory: 1mb}", false}, {"bash: x\nresources: {max-memory: 0KB}", false},
		{"bash: x\nresources: {cpu: 0.5, max-cpu: 90s, max-processes: 1, max-open-files: 8, max-file-size: 1 GiB, max-output: 1KB}", true}, {"bash: x\nresources: {cpu: 2}", true},
		{"bash: x\nresources: {cpu: 0}", false}, {"bash: x\nresources: {cpu: -1.5}", false}, {"bash: x\nresources: {cpu: 50%}", false}, {"bash: x\nresources: {cpu: .inf}", false},
		{"bash: x\nresources: {max-processes: 0}", false}, {"bash: x\nresources: {max-open-files: 7}", false}, {"bash: x\nresources: {max-cpu: 0}", false}, {"bash: x\nresources: {max-output: 0}", false},
		{"bash: x\nenvironment: {A: 1, B: '{X}'}", true}, {"bash: x\nenvironment: {variables: {A: b}, inherit: false}", true},
		{"bash: x\nenvironment: {inherit: maybe}", false}, {"bash: x\nenvironment: {variables: [A]}", false}, {"bash: x\nenvironment: {A-B: c}", false},
		{"bash: x\nenvironment: {A: [1]}", false}, {"bash: x\nenvironment: {variables: {A: b}, C: d}", false}, {"bash: x\nenvironment: {}", true},
		{"bash: x\nerror-handling: {retry: {attempts: 2, exit-codes: 5, not-exit-codes: [1, 2]}}", true},
		{"bash: x\nerror-handling: {retry: {attempts: 2, exit-codes: 256}}", false}, {"bash: x\nerror-handling: {retry: {delay: 5}}", false},
		{"commands: {default: x}", true}, {"commands: {platforms: {linux: x}}", true}, {"commands: {}", false}, {"commands: {platforms: {amiga: x}}", false},
		{"script: x\nshell: zsh", true}, {"commands: {default: x}\nshell: zsh", true}, {"bash: x\nshell: zsh", false},
		{"type: alias\nbase-tool: t", true}, {"type: alias\nbase-tool: t\ndefault-parameters: {A: [1]}", true}, {"type: alias", false},
		{"base-tool: t", false}, {"bash: x\nbase-tool: t", false}, {"type: alias\nbase-tool: t\nbash: x", false}, {"type: other\nbash: x", false},
		{"type: alias\nbase-tool: t\nplatforms: [linux]", false}, {"type: alias\nbase-tool: t\ntags: [read]\ntimeout: 5s\nx-mine: 1", true},
		{"type: alias\nbase-tool: t\nmax-active-runs: 1", false}, {"type: alias\nbase-tool: t\nsecurity: {isolation: container}", true},
		{"bash: x\ntype: alias", false}, {"bash: x\ndefault-parameters: {A: 1}", false},
		{"steps: []", false}, {"steps: x", false}, {"steps: [{name: a, bash: x}]", true}, {"steps: [{bash: x}]", false}, {"steps: [{name: a}]", false},
		{"steps: [{name: 1st, bash: x}]", false}, {"steps: [{name: a, use-tool: t, with: {A: 1}}]", true}, {"steps: [{name: a, bash: x, with: {A: 1}}]", false},
		{"steps: [{name: a, bash: x, run: y}]", false}, {"steps: [{name: a, bash: x}]\nbash: y", false}, {"steps: [{name: a, bash: x, wait-for: []}]", true},
		{"steps: [{name: a, bash: x, x-a: 1}]", true}, {"steps: [{name: a, bash: x, needs: b}]", false},
		{"bash: x\nparameters: {P: {description: d, type: array, default: [1]}}", true},
		{"bash: x\nparameters: {1P: {description: d}}", false}, {"bash: x\nparameters: {P: {description: d, type: list}}", false},
		{"bash: x\nparameters: {P: {description: d, validation: {minimum: 1.5}}}", true}, {"bash: x\nparameters: {P: {description: d, validation: {minLength: -1}}}", false},
	} {
		src := []byte(start + c.line + "\n")
		v, ok := fromYAML(src)
		if !ok {
			t.Errorf("%q is not a document", c.line)
			continue
		}
		_, found := DecodeDocument("t.yaml", src)
		if loads := found.Err() == nil; loads != c.valid {
			t.Errorf("%q: loads %v, want %v: %v", c.line, loads, c.valid, found)
		}
		if err := s.Validate(v); (err == nil) != c.valid {
			t.Errorf("%q: valid %v, want %v: %v", c.line, err == nil, c.valid, err)
		}
	}
}

// TestSchemaNames: each object below the tool has a definition of its own.
func TestSchemaNames(t *testing.T) {
	seen := map[*keytable.Object]bool{}
	var walk func(o *keytable.Object)
	walk = func(o *keytable.Object) {
		if seen[o] {
			return
		}
		seen[o] = true
		for _, f := range o.Fields() {
			if f.Of != nil {
				walk(f.Of)
			}
		}
	}
	walk(Keys())
	if got, want := len(Schema()["definitions"].(map[string]any)), len(seen)-1; got != want {
		t.Errorf("%d definitions, want %d", got, want)
	}
}

// TestSchemaDefaults: a default is a value that may stand there.
func TestSchemaDefaults(t *testing.T) {
	var walk func(path string, v any)
	walk = func(path string, v any) {
		m, ok := v.(map[string]any)
		if !ok {
			return
		}
		for key, p := range m {
			walk(path+"/"+key, p)
		}
		def, ok := m["default"]
		if _, described := m["description"].(string); !ok || !described {
			return
		}
		c := jsonschema.NewCompiler()
		b, _ := json.Marshal(m)
		doc, err := jsonschema.UnmarshalJSON(bytes.NewReader(b))
		if err != nil {
			t.Fatal(err)
		}
		if err := c.AddResource("field.json", doc); err != nil {
			t.Fatal(err)
		}
		if err := c.MustCompile("field.json").Validate(def); err != nil {
			t.Errorf("%s: %v", path, err)
		}
	}
	walk("", Schema())
}
