package makefile_test

import (
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/importer"
	"github.com/flowrun/flowrun/internal/importer/makefile"
	"github.com/flowrun/flowrun/internal/test/importtest"
)

func read(src string) (*importer.Result, error) { return makefile.Read([]byte(src)) }

var features = []importtest.Feature{
	{"targets in `.PHONY` with their prerequisites", ".PHONY: a b\na: b\n\techo a\nb:\n\techo b\n", importtest.Exact, "- name: b\n    sh: echo b\n  - name: a"},
	{"targets that are files", "out:\n\techo x > out\n", importtest.Changed, "flowrun always runs it"},
	{"recipe lines, each in a shell of its own; `@`, `-`", ".PHONY: a\na:\n\t@cd /tmp\n\t-false\n\tpwd\n", importtest.Exact, "(\n      cd /tmp\n      ) || exit\n      false || true\n      pwd"},
	{"variables (`=` `:=` `?=` `+=`)", "V := x\n", importtest.Changed, ""},
	{"prerequisites without a rule", ".PHONY: a\na: go.mod\n\techo a\n", importtest.Changed, "sh: test -e go.mod\n  - name: a"},
	{"`$@`, `$<`, `$^`, `$$`", ".PHONY: a b\na: b\n\techo $@ $< $^ $$HOME\nb:\n\techo b\n", importtest.Exact, "sh: echo a b b $HOME"},
	{"`$(MAKE)`", ".PHONY: a\na:\n\t$(MAKE) -C sub\n", importtest.Exact, "sh: make -C sub"},
	{"functions: `$(shell ...)`, `$(wildcard ...)`", ".PHONY: a\na:\n\techo $(shell date)\n", importtest.Left, ""},
	{"variables that the file does not set", ".PHONY: a\na:\n\techo $(UNKNOWN)\n", importtest.Left, ""},
	{"`$(HOME)`, `$(PATH)`, `$(CURDIR)`, `$(PWD)`", ".PHONY: a\na:\n\techo $(HOME) $(CURDIR)\n", importtest.Changed, "echo {HOME} {WORKSPACE}"},
	{"`MAKEFLAGS`, `unexport`", "MAKEFLAGS += -k\n.PHONY: a\na:\n\techo x\n", importtest.Left, "Changed: make runs with the options of MAKEFLAGS: -k"},
	{"`.POSIX`", ".POSIX:\n.PHONY: a\na:\n\techo x; echo y\n", importtest.Exact, "set -e"},
	{"conditionals (`ifeq`, `ifdef`)", "ifeq (a,b)\nendif\n", importtest.Left, ""},
	{"`include`", "include other.mk\n", importtest.Left, ""},
	{"pattern rules, double-colon rules", "%.o: %.c\n\tcc $<\n", importtest.Left, ""},
	{"`.ONESHELL`, `.RECIPEPREFIX`", ".ONESHELL:\n", importtest.Left, ""},
}

func TestFeatures(t *testing.T) { importtest.Features(t, "Makefiles", read, features) }

// badInputs are files that have mistakes, or that ask for what flowrun does not do.
var badInputs = []string{
	"a: b\n\techo a\nb: a\n\techo b\n",
	".PHONY: a\na:\n\techo $(A)\nA = $(B)\nB = $(A)\n",
	".PHONY: a\na:\n\techo $(A\n",
	"this is no Makefile\n",
	"define X\nno end\n",
	"SHELL := /bin/zsh\n.PHONY: a\na:\n\techo\n",
	"A := x\nA += $(A)$(A)$(A)$(A)\n" + strings.Repeat("A := $(A)$(A)$(A)$(A)$(A)$(A)$(A)$(A)\n", 7) + ".PHONY: a\na:\n\techo $(A)\n",
}

func TestBadInputs(t *testing.T) { importtest.BadInputs(t, read, badInputs) }

func FuzzRead(f *testing.F) { importtest.Fuzz(f, read, features, badInputs) }
