package decode

import (
	"bytes"
	"fmt"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/keytable"
	"github.com/flowrun/flowrun/internal/lang/markdown"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/test/diagnostictest"
)

// outline is the steps of a definition in words, with what of them the page says.
func outline(def *tool.Definition) []string {
	var lines []string
	var add func(list []*tool.Step, blanks string)
	add = func(list []*tool.Step, blanks string) {
		for _, s := range list {
			line := blanks + s.Name + " " + string(s.Kind())
			if use, ok := s.Body.(*tool.ToolUse); ok {
				line += " " + use.Tool.S
				for _, w := range use.With {
					line += fmt.Sprintf(" %s=%v", w.Key, w.Value.Data())
				}
				if use.WithAll != nil {
					line += " all=" + use.WithAll.S
				}
			}
			if code := s.Script(); code != nil {
				line += " " + string(code.Role)
				for _, v := range code.Vars {
					line += fmt.Sprintf(" %s=%v", v.Key, v.Value.Data())
				}
			}
			if s.Previous != "" {
				line += " after " + s.Previous
			}
			lines = append(lines, line)
			add(s.Steps(), blanks+"  ")
		}
	}
	add(def.Steps, "")
	return lines
}

// TestSpec000 reads every example of specification 000 from its own text.
func TestSpec000(t *testing.T) {
	const fixed = "date={{date}} time={{time}} random_id={{random_id}}"
	for _, test := range []struct {
		name  string
		found []string
		steps []string
	}{
		{"beispieltool", []string{"warning[no-description] 2", "warning[no-description] 6"}, []string{
			"preprocess js preprocess " + fixed + " input={{input}}",
			"tool use-tool web_search url=input.url method=GET",
			"postprocess js postprocess " + fixed + " input={{input}} output=prev_step.output outputText=prev_step.outputText after tool",
		}},
		{"chain_beispiel", []string{"warning[no-description] 2", "warning[no-description] 6"}, []string{
			"preprocess js preprocess " + fixed + " input={{input}}",
			"web_search steps",
			"  tool use-tool web_search url=https://api.example.com?q={{preprocess.query}}",
			"  post js postprocess " + fixed + " input={{input}} output=prev_step.output outputText=prev_step.outputText after tool",
			"save_results use-tool save_results data=prev_step.output after web_search",
		}},
		// The page of all the syntax has placeholders where a tool has values.
		{"syntax", []string{"error[text-after-value] 5"}, []string{
			"preprocess js preprocess " + fixed + " input={{input}}",
			"tool use-tool <tool_name> <param1>=<wert_oder_referenz> <param2>=<wert_oder_referenz>",
			"postprocess js postprocess " + fixed + " input={{input}} output=prev_step.output outputText=prev_step.outputText after tool",
		}},
	} {
		t.Run(test.name, func(t *testing.T) {
			src := readFile(t, "testdata/spec000/"+test.name+".md")
			def, found := File(test.name+".md", src)
			diagnostictest.Check(t, src, found)
			var got []string
			for _, d := range found {
				got = append(got, fmt.Sprintf("%s[%s] %d", d.Severity, d.Code, d.Pos.Line))
			}
			if diff := cmp.Diff(test.found, got); diff != "" {
				t.Errorf("diagnostics (-want +got):\n%s", diff)
			}
			if diff := cmp.Diff(test.steps, outline(def)); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
			if def.Format != tool.Markdown || !def.Format.AllowsUndeclared() {
				t.Errorf("format %q", def.Format)
			}
		})
	}
}

const wholePage = `---
tool: true
name: demo
description: Everything a page may hold.
type: single
parameters:
  - {name: url, type: string, description: An address.}
  - {name: limit, type: number, description: How many., default: 5}
  - {name: tag, type: string, description: A word., required: false, default: "{{a b}} {url}"}
---

# Überschrift

` + "```javascript" + `
// @preprocess
return input;
` + "```" + `

` + "```yaml" + `
tool: web_search # Dynamische Referenz
parameters:
  url: input.url
  text: !literal input.url
  other: "\\input.url"
  list: [{"a key": "{{limit}}"}, 5, true, null]
  block: |
    größer
    als
` + "```" + `

` + "```yaml" + `
parameters: [{name: only shown}]
` + "```" + `

` + "```js" + `
// @postprocess
return output;
` + "```" + `
`

// TestPagesAlike: however a page is written down, it is the same tool.
func TestPagesAlike(t *testing.T) {
	plain, found := File("demo.md", []byte(wholePage))
	if len(found) > 0 {
		t.Fatal(found)
	}
	want := outline(plain)
	if len(want) != 3 || !strings.Contains(want[1], "text=input.url") || !strings.Contains(want[1], "map[a key:{{limit}}]") {
		t.Errorf("%q", want)
	}
	_, body, _ := strings.Cut(wholePage, "# Überschrift")
	head := strings.TrimSuffix(wholePage, body)
	var inList strings.Builder
	for line := range strings.Lines(body) {
		if line != "\n" {
			line = "   " + line
		}
		inList.WriteString(line)
	}
	for name, text := range map[string]string{
		"crlf": strings.ReplaceAll(wholePage, "\n", "\r\n"), "cr": strings.ReplaceAll(wholePage, "\n", "\r"), "bom": "\ufeff" + wholePage, "bom and crlf": "\ufeff" + strings.ReplaceAll(wholePage, "\n", "\r\n"),
		"no line end": strings.TrimSuffix(wholePage, "\n"), "empty lines before": "\n\n \n" + wholePage,
		"outer fence":          "````markdown\n" + wholePage + "````\n",
		"outer fence of three": "\n```markdown\n" + wholePage + "```",
		"outer tildes":         "~~~md\r\n" + strings.ReplaceAll(wholePage, "\n", "\r\n") + "~~~\r\n\r\n",
		"tildes":               strings.ReplaceAll(wholePage, "```", "~~~~"),
		"yml and js":           strings.NewReplacer("```yaml", "``` YML title=x", "```javascript", "```JS").Replace(wholePage),
		"markers":              strings.NewReplacer("// @preprocess", "\n//@preprocess", "// @postprocess", "/*\n * @postprocess */").Replace(wholePage),
		"markers after notes":  strings.NewReplacer("// @preprocess", "// a note\n\n//\t @preprocess   ").Replace(wholePage),
		"in a list":            head + "\n\n1. first\n" + inList.String(),
		"headings":             strings.ReplaceAll(wholePage, "# Überschrift", "#### **Pre-Processing** (optional)"),
		"dots":                 strings.Replace(wholePage, "\n---\n\n#", "\n...\n\n#", 1),
		"quoted":               wholePage + "\n> ```yaml\n> tool: other\n> ```\n\n<!--\n```yaml\ntool: other\n```\n-->\n\n    ```yaml\n    tool: other\n    ```\n",
	} {
		t.Run(name, func(t *testing.T) {
			def, found := File("demo.md", []byte(text))
			if len(found) > 0 {
				t.Errorf("%v", found)
			}
			if diff := cmp.Diff(want, outline(def)); diff != "" {
				t.Errorf("steps (-want +got):\n%s", diff)
			}
			inPlace(t, []byte(text), def)
		})
	}
}

// inPlace demands that every character of every script and reference is in the file
// where the definition says.
func inPlace(t testing.TB, src []byte, def *tool.Definition) {
	t.Helper()
	s := diagnostic.NewSource("", src)
	check := func(text diagnostic.Text, step int) {
		for off := 0; off < len(text.S); off += step {
			if c := text.S[off]; c == '\n' || c >= 0x80 || c == 0xC2 {
				continue
			}
			at := text.At(off)
			if i := s.Offset(at.Line, at.Col); i >= len(s.Text) || s.Text[i] != text.S[off] {
				t.Fatalf("%q at %d is said to stand at %v", text.S, off, at)
			}
		}
	}
	var steps func(list []*tool.Step)
	var value func(v keytable.Value)
	value = func(v keytable.Value) {
		if v.Text != nil && s.Text[s.Offset(v.Text.Pos.Line, v.Text.Pos.Col)-1] != '"' { // an escape is another character in the file
			check(*v.Text, 1+len(v.Text.S)/50)
		}
		for _, e := range v.List {
			value(e)
		}
		for _, e := range v.Map {
			value(e.Value)
		}
	}
	steps = func(list []*tool.Step) {
		for _, step := range list {
			if code := step.Script(); code != nil {
				check(code.Code, 1+len(code.Code.S)/50)
			}
			if use, ok := step.Body.(*tool.ToolUse); ok {
				for _, w := range use.With {
					value(w.Value)
				}
			}
			steps(step.Steps())
		}
	}
	steps(def.Steps)
}

// TestPageParameters is the table of parameters of Markdown tools.
func TestPageParameters(t *testing.T) {
	def, _ := File("demo.md", []byte(wholePage))
	var got []string
	for _, p := range def.Parameters {
		line := fmt.Sprintf("%s %s %v", p.Name, p.Type, p.Required)
		if p.Default != nil {
			line += fmt.Sprintf(" %v %v", p.Default.Data(), p.Default.Text == nil)
		}
		got = append(got, line)
	}
	want := []string{"url string true", "limit number true 5 true", "tag string false {{a b}} {url} true"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// TestPageHints checks what to write instead of a title as a name, and of keys of other programs.
func TestPageHints(t *testing.T) {
	for front, want := range map[string]string{
		"name: Daily Summary":                "add 'id: daily_summary'",
		"name: \"Täglich: 1\"":               "use up to 128 letters",
		"id: a b":                            "use up to 128 letters",
		"id: a\npreprocess: return input;":   "```javascript block that begins with // @preprocess",
		"id: a\npostprocess: return output;": "```javascript block that begins with // @postprocess",
	} {
		_, found := File("demo.md", []byte("---\ntool: true\ntype: single\ndescription: d\n"+front+"\n---\n\n```yaml\ntool: x\n```\n"))
		if !slices.ContainsFunc(found, func(d diagnostic.Diagnostic) bool {
			return d.Severity == diagnostic.Error && strings.Contains(d.Hint, want)
		}) {
			t.Errorf("%s: %v", front, found)
		}
	}
}

// TestChainNames is the table of names of chain steps.
func TestChainNames(t *testing.T) {
	const page = "---\ntool: true\nid: my.chain\nname: Meine Kette\ndescription: d\ntype: chain\n---\n\n```yaml\nsteps:\n" +
		"  - name: web_search\n  - name: web_search\n  - id: web_search_2\n    tool: x\n  - name: Web Search\n    tool: y\n  - tool: ./tools/save-all.yaml\n  - name: tool\n  - name: 9lives\n  - tool: other.md\n  - name: x\n    tool: z\n    pre-processing: return input;\n    post-processing: return output;\n    parameters: \"{{web_search}}\"\n```\n"
	def, found := File("my.chain.md", []byte(page))
	if len(found) > 0 || def.Name != "my.chain" || def.DisplayName != "Meine Kette" {
		t.Fatalf("%s %s %v", def.Name, def.DisplayName, found)
	}
	const fixed = "date={{date}} time={{time}} random_id={{random_id}}"
	want := []string{
		"web_search use-tool web_search",
		"web_search_3 use-tool web_search after web_search", // web_search_2 is somebody's own
		"web_search_2 use-tool x after web_search_3",
		"Web_Search_4 use-tool y after web_search_2", // names that differ only by case are one
		"save-all use-tool ./tools/save-all.yaml after Web_Search_4",
		"tool_2 use-tool tool after save-all",
		"_9lives use-tool 9lives after tool_2",
		"other use-tool other.md after _9lives",
		"x steps",
		"  pre js preprocess input={{web_search}} " + fixed + " after other",
		"  tool use-tool z all=prev_step.output after pre",
		"  post js postprocess " + fixed + " input={{input}} output=prev_step.output outputText=prev_step.outputText after tool",
	}
	if diff := cmp.Diff(want, outline(def)); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
}

// FuzzPage: whatever the bytes, a page becomes a definition and diagnostics with places
// in the file; every script and reference stands where it is said to stand, and none of
// their text comes from elsewhere.
func FuzzPage(f *testing.F) {
	for _, pattern := range []string{"testdata/badpages/*.md", "testdata/spec000/*.md"} {
		files, _ := filepath.Glob(pattern)
		for _, file := range files {
			f.Add(readFile(f, file))
		}
	}
	f.Add([]byte(wholePage))
	f.Add([]byte(strings.ReplaceAll(wholePage, "\n", "\r\n")))
	f.Add([]byte("---\ntool: true\ntype: chain\n---\n* - 1. ```yml\n        steps:\n      - tool: a\n    \t~~~js\n\t//@preprocess\n\t\treturn\u2028input\n"))
	f.Fuzz(func(t *testing.T, src []byte) {
		def, found := File("fuzz.md", src)
		diagnostictest.Check(t, src, found)
		diagnostic.Render(&bytes.Buffer{}, found, func(string) []byte { return src }, diagnostic.Style{Color: true})
		inPlace(t, src, def)
		if IsNotTool(found) && len(def.Steps) > 0 {
			t.Error("what is not a tool has steps")
		}
	})
}

// TestHostilePages: what nests or repeats without end is read in time that grows with
// its length.
func TestHostilePages(t *testing.T) {
	head := "---\ntool: true\nname: demo\ntype: single\n---\n"
	for name, unit := range map[string]string{
		"fences": "```yaml\ntool: x\n```\n", "open fences": "```js\n", "lists": "- ", "quotes": "> ", "numbers": "1. ", "scripts": "```js\n// @preprocess\n```\n", "marks": "`", "comments": "```js\n" + strings.Repeat("// x\n", 50),
		"deeper": "- a\n  - b\n    - c\n      > - 1. d\n", "front": "---\n", "brackets": "[", "html": "<div>\n",
	} {
		t.Run(name, func(t *testing.T) {
			_, found := File("demo.md", []byte(head+strings.Repeat(unit, (markdown.MaxSize-len(head))/len(unit))))
			if found.Err() == nil {
				t.Error("no error")
			}
		})
	}
	if _, found := File("demo.md", []byte(head+strings.Repeat("x", markdown.MaxSize))); !slices.ContainsFunc(found, func(d diagnostic.Diagnostic) bool { return d.Code == "file-too-large" }) {
		t.Errorf("%v", found)
	}
}
