package just_test

import (
	"testing"

	"github.com/flowrun/flowrun/internal/test/importtest"
)

// TestRows checks rows and their reasons: what flowrun does not do the same is not exact.
func TestRows(t *testing.T) {
	const export = "a:\n  echo x\n"
	importtest.Rows(t, read, []importtest.Case{
		{"set dotenv-load\n" + export, "set dotenv-load", importtest.Changed, "the environment wins", ""},
		{"unexport FOO\n" + export, "recipe a", importtest.Changed, "unexport FOO is left out", "# Changed: unexport FOO is left out"},
		{"set strange\n" + export, "recipe a", importtest.Changed, "set strange is left out", "# Changed: set strange is left out"},
		{"set export\nv := `date`\n" + export, "recipe a", importtest.Changed, "the variable v is not exported", ""},
		{"v := if \"a\" == \"b\" { \"c\" } else { \"d\" }\n" + export, "variable v", importtest.Left, "flowrun does not evaluate if-expressions", ""},
		{"v := if \"a\" == \"b\" { \"c\" } else { \"d\" }\n" + export, "recipe a", importtest.Exact, "", ""},
		{"set script-interpreter := ['bash', '-c']\n" + export, "recipe a", importtest.Exact, "", "sh: |-\n      set -u"},
		{"v := if os() == 'x' {\n  'a'\n} else {\n  'b'\n}\na:\n  echo {{v}}\n", "recipe a", importtest.Left, "it uses v: flowrun does not evaluate if-expressions", ""},
		{"a:\n  ls {{justfile_directory()}}/x {{ invocation_directory() / 'y' }}\n", "recipe a", importtest.Changed, "justfile_directory() is the folder in which flowrun was started", "ls {WORKSPACE}/x {WORKSPACE}/y"},
		{"export V := justfile_dir()\n" + export, "recipe a", importtest.Changed, "justfile_directory() is the folder", "V: '{WORKSPACE}'"},
		{"d := justfile_directory()\na v=d:\n  ls {{v}}\n", "recipe a", importtest.Left, "a default: flowrun has no defaults that name a folder", ""},
		{"set working-directory := justfile_directory() / 'x'\na:\n  ls\n", "recipe a", importtest.Exact, "", "working-directory: '{WORKSPACE}/x'"},
		{"a v=justfile_directory():\n  ls {{v}}\n", "recipe a", importtest.Left, "", ""},
		{"set default-list\n" + export, "recipe a", importtest.Exact, "", ""},
		{"a who='you and me':\n  echo '{{who}}' \"it's {{who}}\"\n", "recipe a", importtest.Changed, "", "default: you and me"},
		{"a args='--x --y':\n  go {{args}}\n", "recipe a", importtest.Changed, "", "type: array"},
		{"a args='--x \"y z\"':\n  go {{args}}\n", "recipe a", importtest.Changed, "the default of args is one word", ""},
		{"a: b\nb who:\n  echo {{who}}\n", "recipe a", importtest.Left, "it needs b, which has parameters without a default", ""},
		{"[linux]\na: b\n[linux]\nb:\n  echo b\n", "recipe a", importtest.Exact, "", "platforms: [linux]"},
		{"a: b\n[linux]\nb:\n  echo b\n", "recipe a", importtest.Left, "for some platforms only", ""},
		{"set working-directory := `pwd`\n" + export, "recipe a", importtest.Left, "set working-directory: flowrun does not evaluate `pwd`", ""},
		{"x := `test -f licence`\na:\n  echo x\n", "recipe a", importtest.Changed, "the command or the call in the variable x, after whose failure just runs nothing, is left out", "echo x"},
		{"x := env('NOPE')\na:\n  echo x\n", "recipe a", importtest.Changed, "the command or the call in the variable x, after whose failure just runs nothing, is left out", "echo x"},
	})
}
