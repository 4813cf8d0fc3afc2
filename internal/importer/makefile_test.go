package importer_test

import (
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/importer"
	"github.com/flowrun/flowrun/internal/importer/makefile"
	"github.com/flowrun/flowrun/internal/test/needtest"
)

// TestMakefileStatus runs targets with make and with flowrun, in an environment that sets V. A target that is exact must do the
// same; one that is changed must say why.
func TestMakefileStatus(t *testing.T) {
	const phony = ".PHONY: a b c d e\n"
	const needed = "b c d e:\n\t@echo $@\n"
	for _, c := range []struct {
		name, src string
		reason    string // of the target; it is exact if this is empty
	}{
		{"the environment wins over ?=", "V ?= file\na:\n\t@echo $(V)\n", "if the environment sets V"},
		{"?= in another variable", "V ?= file\nW := $(V)\nX = $(W)\na:\n\t@echo $(X)\n", "if the environment sets V"},
		{"?= in a prerequisite", "V ?= b\na: $(V)\nb env:\n\t@echo $@\n", "if the environment sets V"},
		{"?= and +=", "V ?= file\nV += more\na:\n\t@echo $(V)\n", "if the environment sets V"},
		{"+= alone", "V += more\na:\n\t@echo $(V)\n", "if the environment sets V"},
		{"?= that no recipe uses", "V ?= file\na:\n\t@echo x$$V\n", ""},
		{"?= of a variable that is set", "V = x\nV ?= file\na:\n\t@echo $(V)\n", ""},
		{"?= of a default", "LEX ?= file\na:\n\t@echo $(LEX)\n", "if the environment sets LEX"},
		{"SHELL ?=", "SHELL ?= /bin/nothing\na:\n\t@echo x\n", ""},
		{"export ?=", "export V ?= file\nexport U ?= it's $(W)\nW = w\na:\n\t@echo $$V \"$$U\"; env | grep ^U=\n", ""},
		{"export", "export V = file\nV = other\na:\n\t@echo $$V\n", ""},
		{"a variable of the environment", "V = it's file\na:\n\t@echo \"<$${V}>\"\n\t@echo $$V $${#V}; env | grep ^V=\n", ""},
		{"a variable that is not in the environment", "U = file\na:\n\t@echo \"<$$U>\"\n", ""},
		{"a variable of every environment", "HOME = /srv\na:\n\t@env | grep ^HOME=\n", ""},
		{"PATH", "export PATH := /srv:$(PATH)\na:\n\t@echo $$PATH\n", "value of PATH"},
		{"an exported variable that is not known", "export U = $(shell echo x)\na:\n\t@echo $$V\n", "the variable U is not exported"},
		{"HOME and CURDIR", "a:\n\t@echo $(HOME) \"$(HOME)/x\" '${HOME}'\n", "value of HOME"},
		{"CURDIR", "a:\n\t@test $(CURDIR) = \"$$(pwd)\" && echo yes\n", "CURDIR is the directory"},
		{"MAKEFLAGS", "MAKEFLAGS += --no-builtin-rules\na:\n\t@echo x\n", "flowrun ignores them"},
		{"unexport", "unexport V\na:\n\t@echo x\n", "flowrun ignores unexport V"},
		{".POSIX", ".POSIX:\na:\n\t-@echo 1; false; echo never\n\t@# a comment\n\t@echo 2; cd /\n\t@if false; then echo 3; fi; false; echo never\n\t@echo never\n", ""},
		{".POSIX, one line", "a:\n\t@false; echo never\n.POSIX:\n", ""},
		{"several rules", "a: b\na: c d\n\t@echo $^ - $+ - $<\na: e b\n" + needed, ""},
		{"several rules, none with prerequisites of its own", "a: b\na:\n\t@echo $^ - $<\na: c\n" + needed, ""},
		{"several rules, inline", "a: b\na: d\na: c ; @echo $^\n" + needed, ""},
		{"the last recipe", "a: b\n\t@echo 1 $^\na: c\n\t@echo 2 $^\n" + needed, ""},
		{"the last recipe is empty", "a: b\n\t@echo 1\na: c ;\n" + needed, ""},
		{"prerequisites that only order", "a: | b\n\t@echo $^ - $+ - $<\na: c | d c\n" + needed, ""},
		{"a prerequisite twice", "a: b c b\n\t@echo $^ - $+\n" + needed, ""},
		{"comments", "a:\n\t@# it's a comment\n\t-@# ( one { more\n\t@echo x # end\n\t@# two \\\n\t# lines\n\t@cd /\n\t@# last\n", ""},
		{"only comments", "a:\n\t@# one\n\t@# two\n", ""},
		{"one comment", "a:\n\t@# one\n", ""},
		{"a comment before a failure", "a:\n\t@false\n\t@# one\n", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			t.Setenv("V", "env")
			src := phony + c.src
			r, err := makefile.Read([]byte(src))
			if err != nil {
				t.Fatal(err)
			}
			var text []byte
			for _, one := range r.Tools {
				if one.Name == "a" {
					if text, err = importer.Render(one); err != nil {
						t.Fatal(err)
					}
				}
			}
			for _, row := range r.Rows {
				switch {
				case row.What != "target a":
				case c.reason == "" && row.Status != importer.Exact, c.reason != "" && (row.Status != importer.Changed || !strings.Contains(row.Reason, c.reason)):
					t.Errorf("got %s, reason %q; want the reason %q", row.Status, row.Reason, c.reason)
				}
			}
			if text == nil {
				t.Fatalf("no tool: %+v", r.Rows)
			}
			got, failed := runDefinition(t, text)
			if c.reason != "" && !strings.Contains(c.reason, "HOME") {
				return
			}
			needtest.Program(t, "make")
			dir := t.TempDir()
			if err := os.WriteFile(filepath.Join(dir, "Makefile"), []byte(src), 0o644); err != nil {
				t.Fatal(err)
			}
			cmd := exec.Command("make", "--no-print-directory", "a")
			cmd.Dir = dir
			cmd.Env = append(os.Environ(), "MAKEFLAGS=", "MAKELEVEL=")
			want, err := cmd.Output()
			if got != strings.TrimPrefix(string(want), "make: Nothing to be done for 'a'.\n") || failed != (err != nil) {
				t.Errorf("flowrun printed %q, failed %v; make %q, %v\n%s", got, failed, want, err, text)
			}
		})
	}
}
