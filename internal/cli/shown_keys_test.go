package cli_test

import (
	"bytes"
	"cmp"
	"errors"
	"fmt"
	"maps"
	"os"
	"slices"
	"strings"
	"testing"

	approval "github.com/flowrun/flowrun/internal/cli/launch"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/engine/call"
	"github.com/flowrun/flowrun/internal/lang/keytable"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/model/policy"
	"github.com/flowrun/flowrun/library"
)

// placements are the places in which a step can be, with %s for the step. It must be shown in each of them.
var placements = map[string]string{
	"step":            "steps: [%s]",
	"group":           "steps: [{name: g, steps: [%s]}]",
	"loop":            "steps: [{name: l, for-each: {items: [1]}, steps: [%s]}]",
	"handler":         "steps: [{name: m, bash: x}]\nfinally: [%s]",
	"handler of step": "steps: [{name: f, bash: x, on-failure: [%s]}]",
	"used tool":       "steps: [{name: u, use-tool: ./inner.yaml}]",
	// The value of P is known only later and breaks its rule before, so nothing is known of the call.
	"used tool later": "steps: [{name: a, bash: x}, {name: u, use-tool: ./inner.yaml, with: {P: '{a.output}'}}]",
}

// TestShownKeys: a dry run as text and as JSON, and the question whether a call may run, show every key of a step that changes what
// runs, wherever the step is. A new key needs an entry in shownKeys, or a reason in unshownKeys.
func TestShownKeys(t *testing.T) {
	checkKeys(t, tool.Keys().Field("steps").Of, "", shownKeys, unshownKeys)
	for place, around := range placements {
		t.Run(place, func(t *testing.T) {
			var keys, steps []string
			for _, key := range slices.Sorted(maps.Keys(shownKeys)) {
				if !strings.HasPrefix(place, "handler") || !slices.Contains(stepLists[1:], key) { // a handler has no handlers
					steps = append(steps, stepWith(key, len(keys)))
					keys = append(keys, key)
				}
			}
			list := strings.Join(steps, ",\n  ")
			outputs := shownOutputs(t, strings.Replace(around, "%s", "\n  "+list, 1),
				"parameters: {P: {type: string, description: p, default: x, validation: {pattern: '^x$'}}}\nsteps: [\n  "+list+"]")
			for i, key := range keys {
				requireShown(t, key, cmp.Or(strings.ReplaceAll(shownKeys[key].want, "MARK", mark(i)), mark(i)), outputs)
			}
		})
	}
}

// stepWith returns the step that has a key, with its mark.
func stepWith(key string, i int) string {
	fields := strings.ReplaceAll(shownKeys[key].written, "MARK", mark(i))
	if key != "name" {
		fields = fmt.Sprintf("name: s%d, %s", i, fields)
	}
	return "{" + strings.ReplaceAll(fields, "SELF", fmt.Sprintf("s%d", i)) + "}"
}

// stepLists are the keys with steps.
var stepLists = []string{"steps", "on-success", "on-failure", "finally"}

// TestShownToolKeys is TestShownKeys for the keys of a tool.
func TestShownToolKeys(t *testing.T) {
	unshown := maps.Clone(unshownToolKeys)
	for _, key := range bodyKeys {
		unshown[key] = "is shown as the key of a step"
	}
	checkKeys(t, tool.Keys(), "", shownToolKeys, unshown)
	for key, k := range shownToolKeys {
		t.Run(key, func(t *testing.T) {
			requireShown(t, key, cmp.Or(k.want, mark(1)), shownOutputs(t, strings.ReplaceAll(k.written, "MARK", mark(1)), "bash: x"))
		})
	}
}

// mark returns a text that is found nowhere else. It can be a host name, and a part of an image.
func mark(i int) string { return fmt.Sprintf("zq%dqz", i) }

// checkKeys checks that every key below an object is shown or has a reason. A reason holds for the keys below too.
func checkKeys(t *testing.T, o *keytable.Object, prefix string, shown map[string]shownKey, unshown map[string]string) {
	t.Helper()
	for _, f := range o.Fields() {
		path := prefix + f.Key
		_, isShown := shown[path]
		_, isNot := unshown[path]
		nested := f.Of != nil && !slices.Contains(stepLists, f.Key)
		switch {
		case isShown && isNot:
			t.Errorf("%s is in both lists", path)
		case isNot:
		case nested:
			checkKeys(t, f.Of, path+".", shown, unshown)
		case !isShown:
			t.Errorf("the key %s is new: show it (preview.Fact) and add it to the list of keys that are shown, or say why it need not be", path)
		}
	}
}

// shownOutputs returns what a person sees of a tool before it runs.
func shownOutputs(t *testing.T, definition, inner string) map[string]string {
	t.Helper()
	ownFolders(t)
	for name, text := range map[string]string{"it.yaml": definition, "inner.yaml": inner, "used.yaml": "parameters: {P: {type: string, description: p, default: x}}\nbash: echo used {P}"} {
		if err := os.WriteFile(name, []byte("name: "+strings.TrimSuffix(name, ".yaml")+"\ndescription: d\n"+text+"\n"), 0o600); err != nil {
			t.Fatal(err)
		}
	}
	dryRun, _, _ := flowrunIn(t, "", "run", "./it.yaml", "--dry-run")
	document, _, _ := flowrunIn(t, "", "run", "./it.yaml", "--dry-run", "-o", "json")
	p, err := engine.Compile(library.New(library.Config{WorkingDirectory: "."}), "./it.yaml")
	if err != nil {
		t.Fatalf("%v\n%s", err, definition)
	}
	v, err := p.Preview(engine.RunEnv{}, nil)
	if missing := new(call.EnvironmentError); err != nil && !errors.As(err, &missing) {
		t.Fatal(err)
	}
	var question bytes.Buffer
	if _, err := approval.ApprovalCard(policy.Decision{}, v).Write(&question, 1000, true); err != nil {
		t.Fatal(err)
	}
	return map[string]string{"the dry run": dryRun, "its document": document, "the question": question.String()}
}

func requireShown(t *testing.T, key, want string, outputs map[string]string) {
	t.Helper()
	for name, text := range outputs {
		if !slices.ContainsFunc(strings.Split(want, "|"), func(w string) bool { return strings.Contains(text, w) }) {
			t.Errorf("%s does not show %s: there is no %q in\n%.2000s", name, key, want, text)
		}
	}
}
