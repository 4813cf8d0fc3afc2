package just_test

import (
	"testing"

	"github.com/flowrun/flowrun/internal/importer"
	"github.com/flowrun/flowrun/internal/importer/just"
	"github.com/flowrun/flowrun/internal/test/importtest"
)

func read(src string) (*importer.Result, error) { return just.Read([]byte(src)) }

var features = []importtest.Feature{
	{"recipes and dependencies, also after `&&`", "a: b && c\n  echo a\nb:\n  echo b\nc:\n  echo c\n", importtest.Exact, "- name: b\n    sh: |-\n      set -u\n      echo b\n  - name: a"},
	{"lines, each in a shell of its own; `@`, `-`", "a:\n  @cd /tmp\n  -false\n  pwd\n", importtest.Exact, "false || true"},
	{"parameters, also `+` and `*`", "a who='x' *rest:\n  echo {{who}} {{rest}}\n", importtest.Changed, "echo {who} {rest}"},
	{"variables with fixed values, `+`, `/`", "v := 'x' / \"y\"\na:\n  echo {{v}}\n", importtest.Changed, "echo x/y"},
	{"`export` and `set export`", "export V := 'x'\na:\n  echo $V\n", importtest.Changed, "V: x"},
	{"shebang recipes (bash, sh, python)", "a:\n  #!/usr/bin/env python3\n  print(1)\n", importtest.Exact, "python: print(1)"},
	{"`set shell` (bash, sh), `set export`", "set shell := ['bash', '-c']\nset export\na:\n  echo x\n", importtest.Exact, "bash: "},
	{"`set dotenv-load`", "set dotenv-load\na:\n  echo x\n", importtest.Changed, "path: .env"},
	{"`set working-directory`, `[working-directory]`", "set working-directory := 'sub'\na:\n  echo x\n", importtest.Exact, "working-directory: sub"},
	{"`[private]`, `_names`", "a: _b\n  echo a\n_b:\n  echo b\n", importtest.Changed, "name: _b"},
	{"`[linux]`, `[macos]`, `[windows]`, `[unix]`", "[linux]\na:\n  echo x\n", importtest.Exact, "platforms: [linux]"},
	{"`[confirm]`", "[confirm('Sure?')]\na:\n  echo x\n", importtest.Changed, "approve: Sure?"},
	{"`justfile_directory()`, `invocation_directory()`", "a:\n  ls {{justfile_directory()}}\n", importtest.Changed, "ls {WORKSPACE}"},
	{"commands in backticks, other functions, `if`", "v := `date`\na:\n  echo {{v}}\n", importtest.Left, ""},
	{"dependencies with arguments", "a: (b 'x')\n  echo a\nb y:\n  echo {{y}}\n", importtest.Left, ""},
	{"`alias`, `import`, `mod`", "alias b := a\na:\n  echo x\n", importtest.Left, ""},
	{"`set positional-arguments`, other attributes", "set positional-arguments\na:\n  echo x\n", importtest.Left, ""},
}

func TestFeatures(t *testing.T) { importtest.Features(t, "justfiles", read, features) }

// badInputs are files that have mistakes, or that ask for what flowrun does not do.
var badInputs = []string{
	"a:\n  echo {{x\n",
	"a: b\n  echo\n",
	"a b c\n",
	"v := ```\n  echo x\n\n  a:\n```\na:\n  echo {{v}}\n",
	"  echo x\n",
	"a:\n  #!/usr/bin/env perl\n  print 1\n",
}

func TestBadInputs(t *testing.T) { importtest.BadInputs(t, read, badInputs) }

func FuzzRead(f *testing.F) { importtest.Fuzz(f, read, features, badInputs) }
