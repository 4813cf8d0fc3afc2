package tool

import (
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// Specification 001 shows some sections alone. These are put around such a
// fragment to make a definition of it.
const (
	heading    = "name: \"%s\"\ndescription: A block of the specification.\n"
	withBody   = heading + "bash: echo\n"
	withAPath  = withBody + "parameters:\n  PATH: {description: A path.}\n"
	withAClone = withBody + "parameters:\n  URL: {description: A repository.}\n  DIRECTORY: {description: A folder.}\n"
	ownBody    = heading // a fragment that says itself what it runs
)

// spec001 says, for each fixture in testdata/spec001 (a YAML block, named after
// the line it opens at), what is put around it and which diagnostics it has.
// Blocks that are not listed are definitions and have none.
var spec001 = map[string]struct {
	around string
	found  []string // severity[code] line
}{
	// the catalogue of all keys is not one tool.
	"0029": {found: []string{
		"warning[name-differs] 2",
		"error[alias-with-body] 5", "error[alias-with-body] 8", "error[alias-with-body] 9", "error[alias-with-body] 10", "error[alias-with-body] 11", "error[alias-with-body] 12", "error[alias-with-body] 15", "error[alias-with-body] 18", "error[alias-with-body] 26",
		"error[two-bodies] 30", "error[unknown-step] 39", "error[two-bodies] 54", "error[alias-with-body] 60",
		"warning[rule-without-effect] 61", "error[default-refused] 65", "warning[examples-refused] 75", "warning[examples-refused] 75",
		"error[alias-with-body] 89", "error[alias-with-body] 105", "error[alias-with-body] 111", "error[alias-with-body] 118", "error[alias-with-body] 128",
		"error[alias-with-body] 152", "error[alias-with-body] 153", "error[alias-with-body] 155", "error[alias-with-body] 156", "error[alias-with-body] 157", "error[alias-with-body] 158", "error[alias-with-body] 163", "error[alias-with-body] 178", "error[alias-with-body] 185",
		"error[duplicate-key] 185",
	}},
	"0291": {around: withBody, found: []string{"error[default-refused] 6", "warning[examples-refused] 10"}},
	"0316": {around: withBody},
	"0325": {around: withBody},
	"0337": {around: withBody},
	"0343": {around: heading},
	"0359": {around: heading},
	"0374": {around: withBody},
	"0386": {around: heading},
	"0405": {around: withBody},
	"0476": {around: withAClone},
	"0719": {around: ownBody},
	"0725": {around: ownBody},
	"0746": {around: heading},
	"0766": {around: withBody},
	"0783": {around: withBody},
	"0795": {around: withBody},
	"0823": {around: withBody},
	"0911": {around: withBody},
	"1026": {around: withBody},
	"1061": {around: heading},
	"1074": {around: heading},
	"1088": {around: heading},
	"1102": {around: withBody},
	"1114": {around: ownBody},
	"1126": {around: withBody},
	"1137": {around: ownBody},
	"1145": {around: withAPath},
	"1162": {around: withBody},
	"1174": {around: withBody},
	"1187": {around: heading, found: []string{"warning[repaired-scalar] 3"}},
	"1198": {around: withBody},
	"1209": {around: heading},
	"1225": {around: heading},
	"1237": {around: heading},
	"1252": {around: withBody},
	"1283": {around: withBody},
	"1307": {around: withBody},
	"1905": {found: []string{"warning[name-differs] 1", "warning[repaired-scalar] 12", "warning[repaired-scalar] 19"}},
	"2091": {found: []string{"warning[name-differs] 1", "warning[examples-refused] 18"}},
	"2650": {around: withBody},
	"2682": {around: withBody, found: []string{"warning[no-description] 5", "warning[unknown-alternative] 8"}},
	"2699": {around: withBody},
	// Three ways to say the same, shown in one block.
	"2711": {around: ownBody, found: []string{"error[two-bodies] 5", "error[two-bodies] 8"}},
	"2726": {around: withBody},
}

func TestSpec001(t *testing.T) {
	files, err := filepath.Glob("testdata/spec001/*.yaml")
	if err != nil || len(files) != 58 {
		t.Fatalf("found %d blocks, want 58: %v", len(files), err)
	}
	for _, file := range files {
		block := Stem(file)
		t.Run(block, func(t *testing.T) {
			expect, listed := spec001[block]
			text, before := string(readFile(t, file)), ""
			if expect.around != "" {
				before = fmt.Sprintf(expect.around, block)
				if strings.Contains(before, "parameters:") && strings.Contains("\n"+text, "\nparameters:") {
					t.Fatal("the block has parameters of its own")
				}
			}
			def, found := DecodeDocument(file, []byte(before+text))
			var got []string
			for _, d := range found {
				got = append(got, fmt.Sprintf("%s[%s] %d", d.Severity, d.Code, d.Pos.Line-strings.Count(before, "\n")))
			}
			want := expect.found
			if !listed {
				want = []string{"warning[name-differs] 1"}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("-want +got:\n%s\n%v", diff, found)
			}
			if found.Err() == nil && len(def.Steps) == 0 && !def.Alias {
				t.Error("a definition without steps")
			}
		})
	}
}

// TestSpec001Alternatives loads the three commands of block 2711 one by one.
func TestSpec001Alternatives(t *testing.T) {
	text := string(readFile(t, "testdata/spec001/2711.yaml"))
	parts := strings.Split(strings.TrimSpace(text), "\n\n")
	if len(parts) != 3 {
		t.Fatalf("%d parts", len(parts))
	}
	for i, kind := range []Kind{Bash, Cmd, Pwsh} {
		def, found := DecodeDocument("t.yaml", []byte(fmt.Sprintf(heading, "t")+parts[i]))
		if len(found) > 0 || len(def.Steps) != 1 || def.Steps[0].Kind() != kind {
			t.Errorf("%s: %v", kind, found)
		}
	}
}

// TestSpec001Duplicate: the message names the key and both its lines.
func TestSpec001Duplicate(t *testing.T) {
	_, found := DecodeDocument("0029.yaml", readFile(t, "testdata/spec001/0029.yaml"))
	want := `key "function-calling" is given twice: on line 89 and on line 185`
	if !strings.Contains(found.Error(), want) {
		t.Errorf("no %q in:\n%v", want, found)
	}
}
