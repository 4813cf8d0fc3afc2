package lint_test

import (
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/lang/decode"
	"github.com/flowrun/flowrun/internal/lang/explain"
	"github.com/flowrun/flowrun/internal/lang/lint"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

// practices001 says which block of specification 001 shows each row of its best
// practices, by the line it opens at, and what is put around it.
var practices001 = map[string]struct{ row, around string }{
	"0995": {"S1-381", ""},
	"1026": {"S1-383", "bash: echo\n"},
	"1061": {"S1-389", ""},
	"1074": {"S1-390", ""},
	"1088": {"S1-391", ""},
	"1102": {"S1-392", "bash: echo\n"},
	"1114": {"S1-393", ""},
	"1126": {"S1-394", "bash: ls {SOURCE_PATH}\nparameters: {SOURCE_PATH: {description: Which.}}\n"},
	"1137": {"S1-395", ""},
	"1145": {"S1-396", "bash: ls {PATH}\nplatforms: [windows, linux]\nparameters: {PATH: {description: Which.}}\n"},
	"1162": {"S1-397", "bash: echo {QUERY}\n"},
	"1174": {"S1-398", "bash: ls {FILE_TYPE}\n"},
	"1187": {"S1-399", "parameters: {API_KEY: {description: The key.}, API_URL: {description: Where.}}\n"},
	"1198": {"S1-400", "bash: curl https://api.github.com\n"},
	"1209": {"S1-401", ""},
	"1225": {"S1-402", ""},
	"1237": {"S1-403", ""},
	"1252": {"S1-404", "bash: ffmpeg -i a.mp4 b.webm\n"},
}

func read(t *testing.T, block, around string) (*tool.Definition, string) {
	t.Helper()
	b, err := os.ReadFile(filepath.Join("../tool/testdata/spec001", block+".yaml"))
	if err != nil {
		t.Fatal(err)
	}
	text := string(b)
	if around != "" || !strings.Contains(text, "description:") || !strings.HasPrefix(text, "name:") {
		text = "name: spec\ndescription: A block of the specification.\n" + around + text
	}
	def, found := decode.File("spec.yaml", []byte(text))
	if found.Err() != nil {
		t.Fatal(found)
	}
	return def, text
}

// TestSpecification: what the specification shows as good for a row gives no note of
// that row.
func TestSpecification(t *testing.T) {
	rows := map[string]string{}
	for _, p := range lint.Practices() {
		rows[p.Code] = p.Requirement
	}
	seen := map[string]bool{}
	for block, c := range practices001 {
		seen[c.row] = true
		def, text := read(t, block, c.around)
		for _, d := range lint.Of(def) {
			if rows[d.Code] == c.row {
				t.Errorf("%s is the good example of %s, but gives %s\n%s", block, c.row, d, text)
			}
		}
	}
	for n := 381; n <= 404; n++ {
		row := fmt.Sprintf("S1-%d", n)
		if !slices.ContainsFunc(lint.Practices(), func(p lint.Practice) bool { return p.Requirement == row }) {
			t.Errorf("no practice is of row %s", row)
		}
		if !seen[row] && !slices.Contains([]string{"S1-382", "S1-384", "S1-385", "S1-386", "S1-387", "S1-388"}, row) { // rows without a block
			t.Errorf("no block is of row %s", row)
		}
	}
}

// TestWholeExamples: what the practices say of the specification's complete tools.
// They are not perfect by their own rules; what is said here was looked at and is so.
func TestWholeExamples(t *testing.T) {
	for block, want := range map[string]string{
		"1877": "no-network-permission portable-step retry-network",
		"1905": "abbreviation retry-network",
		"1965": "abbreviation no-timeout portable-step retry-network",
		"2033": "portable-step unvalidated-parameter",
		"2091": "",
	} {
		def, text := read(t, block, "")
		var got []string
		for _, d := range lint.Of(def) {
			if d.Code != "no-tests" {
				got = append(got, d.Code)
			}
		}
		slices.Sort(got)
		got = slices.Compact(got)
		if diff := cmp.Diff(want, strings.Join(got, " ")); diff != "" {
			t.Errorf("%s (-want +got):\n%s\n%s", block, diff, text)
		}
	}
}

// TestGood: a tool that does all that is asked for gets no note at all.
func TestGood(t *testing.T) {
	def, found := decode.File("fetch-data.yaml", []byte(`
name: fetch-data
description: Fetches a page of data and keeps it.
version: 1.1.0
changelog:
  - {version: 1.0.0, changes: First.}
  - {version: 1.1.0, changes: Retries.}
tags: [network, write]
timeout: 60s
output: "{fetch.output}"
steps:
  - name: fetch
    bash: curl -sf -X {METHOD} -H "Authorization: Bearer {API_KEY}" "https://api.example.com/{SOURCE_NAME}"
    error-handling: {retry: {attempts: 3, delay: 1000}}
parameters:
  METHOD: {description: HTTP method., default: GET, validation: {enum: [GET, POST]}}
  API_KEY: {description: The key., required: true}
  SOURCE_NAME: {description: What to fetch., required: true}
  VERBOSE: {type: boolean, description: Say more., default: false}
  RETRY_COUNT: {type: number, description: How often., default: 3}
environment: {secrets: [API_KEY]}
security: {required-permissions: ["network:external:api.example.com"]}
tests:
  - name: fetches
    parameters: {API_KEY: abcdef, SOURCE_NAME: x}
    expected: {exit-code: 0}
`))
	if found.Err() != nil {
		t.Fatal(found)
	}
	for _, d := range lint.Of(def) {
		t.Error(d)
	}
}

// TestNames: what the specification calls bad is noted, and its neighbours are not.
func TestNames(t *testing.T) {
	for names, want := range map[string]string{
		"REPO": "abbreviation", "FMT": "abbreviation", "REPOSITORY_URL": "", "OUTPUT_FORMAT": "",
		"url": "upper-case-parameter", "URL": "", "FILE_PATH2": "",
		"FILE_NAME,OUTPUT-FORMAT": "mixed-separators", "FILE_NAME,OUTPUT_FORMAT": "", "A_B-C": "mixed-separators",
		"TEXT_SOURCE,LANGUAGE_SOURCE": "group-prefix", "SOURCE_LANGUAGE,SOURCE_TEXT,TARGET_LANGUAGE,TARGET_TEXT": "",
		"HOW_MANY": "value-name", "COUNT": "", "WHATSAPP_ID": "",
		"API_KEY": "unmasked-secret", "GITHUB_TOKEN": "unmasked-secret", "KEY": "", "TOKENIZER": "", "KEYBOARD": "", "PUBLIC_KEY": "",
		"METHOD": "enum-parameter", "LOG_LEVEL": "enum-parameter", "METHODOLOGY": "",
		"SUPPORT_EMAIL": "unvalidated-parameter", "TYPEFACE": "",
	} {
		text := "name: t\ndescription: d\ntags: [read]\nbash: echo\ntests: [{name: a, expected: {exit-code: 0}}]\nparameters:\n"
		for _, n := range strings.Split(names, ",") {
			text += "  " + n + ": {description: d}\n"
		}
		def, found := decode.File("t.yaml", []byte(text))
		if found.Err() != nil {
			t.Fatal(found)
		}
		var got []string
		for _, d := range lint.Of(def) {
			if !slices.Contains(got, d.Code) {
				got = append(got, d.Code)
			}
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%s: want %q, got %q", names, want, got)
		}
	}
}

// TestCommands: what a step runs is noted only where it is so.
func TestCommands(t *testing.T) {
	for script, want := range map[string]string{
		"curl -sf x":                         "no-network-permission no-timeout retry-network",
		"curl -sf --retry 3 --max-time 20 x": "no-network-permission",
		"# curl x\necho":                     "",
		"command -v curl":                    "",
		"echo curling":                       "",
		"git status":                         "",
		"git clone x":                        "no-network-permission no-timeout retry-network",
		"exit 1":                             "silent-exit",
		"echo no >&2; exit 1":                "",
		"a\nb":                               "no-strict",
		"set -e\na\nb":                       "",
		"if x; then\n  a\nfi":                "",
		"a \\\n  b":                          "",
		"f=$(mktemp); rm $f":                 "",
		"f=$(mktemp)":                        "no-cleanup",
		"echo x > /tmp/y":                    "no-cleanup no-write-permission",
		"brew install x && pbcopy":           "platform-command",
		"ffmpeg -i x y":                      "no-memory-limit",
		"journalctl -u x":                    "stream-output",
		"journalctl -u x > log":              "",
	} {
		def, found := decode.File("t.yaml", []byte("name: t\ndescription: d\ntags: [read]\ntests: [{name: a, expected: {exit-code: 0}}]\nbash: |\n  "+strings.ReplaceAll(script, "\n", "\n  ")+"\n"))
		if found.Err() != nil {
			t.Fatal(found)
		}
		var got []string
		for _, d := range lint.Of(def) {
			got = append(got, d.Code)
		}
		slices.Sort(got)
		if strings.Join(got, " ") != want {
			t.Errorf("%q: want %q, got %q", script, want, got)
		}
	}
}

// TestBreaking: each change that callers cannot survive, and those that they can.
func TestBreaking(t *testing.T) {
	const was = "A: {description: a, default: x}"
	for _, c := range []struct{ before, now, want string }{
		{was, was, ""},
		{was, "B: {description: b}", "was removed"},
		{was, was + "\n  B: {description: b}", ""},
		{was, was + "\n  B: {description: b, required: true}", "new and required"},
		{was, was + "\n  B: {description: b, required: true, default: x}", ""},
		{was, "A: {description: a, required: true}", "is now required"},
		{"A: {description: a, required: true}", was, ""},
		{was, "A: {description: a, type: number}", "changed its type from string to number"},
		{"A: {description: a, type: number}", "A: {description: a, type: string}", ""},
		{was, "A: {description: a, validation: {enum: [x, y]}}", "no longer accepts values outside"},
		{"A: {description: a, validation: {enum: [x, y]}}", "A: {description: a, validation: {enum: [x]}}", "no longer accepts y"},
		{"A: {description: a, validation: {enum: [x]}}", "A: {description: a, validation: {enum: [x, y]}}", ""},
		{"A: {description: a, type: number}", "A: {description: a, type: number, validation: {minimum: 1}}", "minimum"},
		{"A: {description: a, type: number, validation: {maximum: 5}}", "A: {description: a, type: number, validation: {maximum: 4}}", "maximum"},
		{"A: {description: a, type: number, validation: {maximum: 5}}", "A: {description: a, type: number, validation: {maximum: 6}}", ""},
		{was, "A: {description: a, validation: {maxLength: 3}}", "lower maxLength"},
		{was, "A: {description: a, validation: {minLength: 3}}", "higher minLength"},
		{was, "A: {description: a, validation: {pattern: x}}", "pattern"},
	} {
		for _, v := range []struct {
			before, now string
			tells       bool
		}{{"1.0.0", "1.9.0", true}, {"1.0.0", "2.0.0", false}, {"0.1.0", "0.1.1", true}, {"0.1.0", "0.2.0", false}, {"", "", true}, {"1.0.0", "", true}} {
			got := lint.Breaking(definition(t, v.before, c.before), definition(t, v.now, c.now))
			switch {
			case c.want == "" || !v.tells:
				if len(got) > 0 {
					t.Errorf("%s -> %s, %q -> %q: %v", c.before, c.now, v.before, v.now, got)
				}
			case len(got) != 1 || !strings.Contains(got[0].Message, c.want) || got[0].Severity != tool.Warning:
				t.Errorf("%s -> %s, %q -> %q: want %q, got %v", c.before, c.now, v.before, v.now, c.want, got)
			}
		}
	}
}

func definition(t *testing.T, version, parameters string) *tool.Definition {
	t.Helper()
	text := "name: t\ndescription: d\nbash: echo\nparameters:\n  " + parameters + "\n"
	if version != "" {
		text += "version: " + version + "\n"
	}
	def, found := decode.File("t.yaml", []byte(text))
	if found.Err() != nil {
		t.Fatal(found)
	}
	return def
}

// TestPages: every practice has a page with an example, whose right side is good.
func TestPages(t *testing.T) {
	for _, p := range lint.Practices() {
		if pages := explain.Find(p.Code); len(pages) != 1 || pages[0].Kind != explain.Practice || pages[0].Wrong == "" {
			t.Errorf("%s has no page with an example", p.Code)
		}
	}
}

// TestForModels: what a model's call of a tool could not do is said with what allows it.
func TestForModels(t *testing.T) {
	const network, write = `cannot reach the network ("network:external:HOST" in security.required-permissions allows it)`, `cannot write files ("filesystem:write:PATH" in security.required-permissions allows it)`
	for tools, want := range map[string]string{
		"bash: curl -sf https://x":                                                         network,
		"steps: [{name: a, http: {url: 'https://x'}}]":                                     network,
		"bash: echo x > out.txt":                                                           write,
		"bash: echo x >>{FILE}\nparameters: {FILE: {type: string}}":                        write,
		"bash: mkdir -p out && git clone x out":                                            network + " and " + write,
		"steps: [{name: a, bash: 'true'}, {name: b, steps: [{name: c, bash: 'rm -f x'}]}]": write,
		"bash: grep -rn x src 2>/dev/null":                                                 "",
		"bash: echo x >&2; d=$(mktemp -d); echo y > $d/z.txt":                              "",
		"bash: awk '$1 > 5' data":                                                          "",
		"bash: test 1 -gt {N}\nparameters: {N: {type: number}}":                            "",
		"bash: echo x > out.txt\nsecurity: {required-permissions: ['filesystem:write:.']}": "",
		"bash: curl x\nsecurity: {required-permissions: [network]}":                        "",
	} {
		def, found := decode.File("t.yaml", []byte("name: t\ndescription: d\n"+tools+"\n"))
		if found.Err() != nil {
			t.Fatal(found)
		}
		if want != "" {
			want = "a model's call of t " + want
		}
		if got := lint.ForModels(def); got != want {
			t.Errorf("%s: %q, want %q", tools, got, want)
		}
	}
}

// TestLostFailures: a script whose failure nobody notices is noted once for each step, at its line, with a way out that helps.
func TestLostFailures(t *testing.T) {
	const pipe = "add strict: true, which sets pipefail"
	for text, want := range map[string]string{
		"bash: |\n  echo a\n  pg_dump x | gzip > f\n  b\n":                    "5:3 the tool does not notice if pg_dump fails: a pipeline has the exit code of its end, here of gzip; add strict: true, which sets -e and pipefail",
		"bash: |\n  set -e\n  pg_dump x | gzip > f\n":                         "5:3 the tool does not notice if pg_dump fails: a pipeline has the exit code of its end, here of gzip; " + pipe + "; set -e does not look at the beginning of a pipeline",
		"bash: pg_dump {DB} | gzip > f\nparameters: {DB: {description: d}}\n": "3:7 the tool does not notice if pg_dump fails: a pipeline has the exit code of its end, here of gzip; add strict: true, which sets -e and pipefail",
		"strict: true\nsh: pg_dump x | gzip > f\n":                            "4:5 the tool does not notice if pg_dump fails: a pipeline has the exit code of its end, here of gzip; sh sees only the end of a pipeline: use bash: with strict: true, or write to a file first and read that",
		"bash: |\n  a\n  b\n":                                                 "4:3 the tool continues after a fails: only the exit code of the last command counts; add strict: true, or set -e as the script's first line",
		"bash: |\n  a\n  b | c\n":                                             "4:3 the tool continues after a fails: only the exit code of the last command counts; add strict: true, which sets -e and pipefail",
		"steps:\n  - {name: x, bash: \"a | b\"}\n  - {name: y, strict: true, bash: a | b}\n  - name: z\n    bash: a; b\n": "4:22 step x does not notice if a fails: a pipeline has the exit code of its end, here of b; add strict: true, which sets -e and pipefail, 7:11 step z continues after a fails: only the exit code of the last command counts; add strict: true, or set -e as the script's first line",
		"strict: true\nbash: a | b\n": "",
		"run: a | b\n":                "",
		"python: |\n  a\n  b\n":       "",
		"steps: [{name: f, bash: echo, on-failure: [{name: h, bash: a | b}]}]\n":                 "3:60 step h does not notice if a fails: a pipeline has the exit code of its end, here of b; add strict: true, which sets -e and pipefail",
		"steps: [{name: g, for-each: {items: [1]}, steps: [{name: h, bash: 'a {item} | b'}]}]\n": "3:68 step h does not notice if a fails: a pipeline has the exit code of its end, here of b; add strict: true, which sets -e and pipefail",
	} {
		def, found := decode.File("t.yaml", []byte("name: t\ndescription: d\n"+text))
		if found.Err() != nil {
			t.Fatal(found)
		}
		var got []string
		for _, d := range lint.LostFailures(def) {
			got = append(got, fmt.Sprintf("%d:%d %s; %s", d.Pos.Line, d.Pos.Col, d.Message, d.Hint))
		}
		if got := strings.Join(got, ", "); got != want {
			t.Errorf("%s:\n got %s\nwant %s", text, got, want)
		}
	}
}
