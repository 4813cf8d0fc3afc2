package makefile_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/test/importtest"
)

// TestWhatNeedsSomethingLeftOut checks what is left out with what it needs.
func TestWhatNeedsSomethingLeftOut(t *testing.T) {
	const phony = ".PHONY: d\nd:\n\techo GUARDED\n"
	importtest.LeftOut(t, read, []importtest.Guarded{
		{"include x.mk\n.PHONY: d\nd: verify\n\techo GUARDED\n", "it needs verify, which may be a target of include x.mk", ""},
		{"include x.mk\n" + phony, "include x.mk may stop make, or add rules and variables", ""},
		{"-include .env\n" + phony, "-include .env may stop make", ""},
		{"sinclude $(DEPS)\n" + phony, "sinclude $(DEPS) may stop make", ""},
		{"ifdef X\ninclude x.mk\nendif\n" + phony, "include x.mk may stop make", ""},
		{".c.o:\n\tfalse\n.PHONY: d\nd: a.o\n\techo GUARDED\n", "it needs a.o, which may be a target of the rule .c.o", ""},
		{"%.ok: %.txt\n\tverify $<\n.PHONY: d\nd: a.ok\n\techo GUARDED\n", "it needs a.ok, which may be a target of the rule %.ok", ""},
		{"$(error stop)\n" + phony, "line 1 may stop make or add rules: $(error stop)", ""},
		{"ifndef X\n$(error X is not set)\nendif\n" + phony, "line 2 may stop make or add rules", ""},
		{"$(eval d: verify)\n" + phony, "line 1 may stop make or add rules", ""},
		{"$(UNKNOWN): verify\n" + phony, "line 1 may be a rule of any target", ""},
		{"no rule\n" + phony, "line 1 may stop make", ""},
		{"$(info hello)\n" + phony, "not understood", "GUARDED"},
		{".PHONY: d\nd: approved.txt\n\techo GUARDED\n", "the file approved.txt must exist", "sh: test -e approved.txt\n  - name: d\n    sh: echo GUARDED"},
		{".PHONY: d\nd: ~/x\n\techo GUARDED\n", "a name with special characters", ""},
		{"export V = $(shell date)\n.PHONY: d\nd:\n\techo GUARDED $$V\n", "it reads V, which is not exported", ""},
		{"export V = $(shell date)\n" + phony, "the variable V is not exported", "GUARDED"},
		{".PHONY: c d\nc:\n\techo c\nd: c .WAIT c\n\techo GUARDED\n", "", "- name: c\n    sh: echo c\n  - name: d\n"},
	})
}

func TestGuards(t *testing.T) { importtest.Guards(t, read, source) }

// source writes a random file.
func source(s *importtest.Source) {
	if s.OneIn(8) {
		s.Write("%s\n", s.Pick("include other.mk", "-include .env", "$(info x)"))
	}
	s.Write(".PHONY: t0 t1 t2 t3\n")
	var done [][]string
	for n := range 4 {
		var guards, needs []string
		for range s.IntN(3) {
			if n > 0 && s.OneIn(2) {
				other := s.IntN(n)
				needs = append(needs, fmt.Sprintf("t%d", other))
				guards = append(guards, done[other]...)
			} else if s.OneIn(3) {
				g := s.Word("guard")
				needs = append(needs, s.Pick("", "$(UNKNOWN)")+g)
				guards = append(guards, g)
			}
		}
		s.Write("t%d: %s\n", n, strings.Join(needs, " "))
		for range 1 + s.IntN(3) {
			c := s.Command(guards)
			ignore := s.OneIn(5)
			s.Write("\t%secho %s %s\n", map[bool]string{true: "-"}[ignore], c, s.Pick("", "", "", "", "$(shell x)"))
			if !ignore {
				guards = append(guards, c)
			}
		}
		done = append(done, guards)
	}
}
