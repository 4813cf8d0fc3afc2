package lint

import (
	"bytes"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/lang/version"
)

// This file contains the practices for a tool as a whole.

var nameLine = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`(?m)^("name"|'name'|name)[ \t]*:`) })

func nameKey(r *checker) {
	def := r.def
	src := diagnostic.WithoutMark(def.Source)
	if len(src) == 0 || src[0] == '{' || nameLine().Match(src) || !tool.ValidName(def.Name) || def.Pos.Col != 1 {
		return
	}
	r.toolNote(fmt.Sprintf("the tool has no name key; flowrun uses the file name: %s", def.Name),
		"add name: "+def.Name+", so that renaming the file does not rename the tool")
	at := len(def.Source) - len(src) + offset(src, def.Pos.Line)
	r.notes[len(r.notes)-1].Fix = []tool.Edit{{From: at, To: at, Text: "name: " + def.Name + lineEnd(src)}}
}

// offset returns the offset of the start of a line.
func offset(src []byte, line int) int {
	at := 0
	for ; line > 1; line-- {
		i := bytes.IndexByte(src[at:], '\n')
		if i < 0 {
			break
		}
		at += i + 1
	}
	return at
}

func lineEnd(src []byte) string {
	if i := bytes.IndexByte(src, '\n'); i > 0 && src[i-1] == '\r' {
		return "\r\n"
	}
	return "\n"
}

func newestChange(r *checker) {
	own, _, ok := version.Parse(r.def.Version)
	if !ok || len(r.def.Changelog) == 0 {
		return
	}
	var newest version.Version
	var entry tool.Change
	for _, c := range r.def.Changelog {
		if v, _, ok := version.Parse(c.Version); ok && (entry.Version == "" || v.Compare(newest) > 0) {
			newest, entry = v, c
		}
	}
	switch c := newest.Compare(own); {
	case entry.Version == "" || c == 0:
	case c > 0:
		r.note(entry.Pos, len(entry.Version), "changelog", fmt.Sprintf("the newest entry of the changelog is %s, but the tool's version is %s", entry.Version, r.def.Version),
			"raise version to "+entry.Version)
	default:
		r.note(entry.Pos, len(entry.Version), "changelog", fmt.Sprintf("the changelog ends at %s and has no entry for the tool's version, %s", entry.Version, r.def.Version),
			"add an entry for "+r.def.Version)
	}
}

var uselessLastCommand = sync.OnceValue(func() *regexp.Regexp {
	return regexp.MustCompile(`(?i)^\s*(rm|rmdir|del)\s|^\s*echo\s+["']?(done|ok|finished|complete)`)
})

func unclearOutput(r *checker) {
	def := r.def
	if def.Output != nil || len(def.Steps) < 2 {
		return
	}
	last := def.Steps[len(def.Steps)-1]
	if !uselessLastCommand().MatchString(last.Command().S) || strings.Contains(last.Command().S, ".output}") {
		return
	}
	r.stepNote(last, fmt.Sprintf("the output of the tool is that of %s, which is not useful to a caller", r.subject(last)),
		`set the output: output: "{STEP.output}", or move the cleanup to resources.cleanup`)
}

func widePermission(r *checker) {
	for i, p := range r.def.Security.RequiredPermissions {
		parts := strings.SplitN(p.S, ":", 3)
		wide := strings.Contains(p.S, "*") || p.S == "network" || p.S == "network:external" ||
			parts[0] == "filesystem" && len(parts) == 3 && slices.Contains([]string{"/", `C:\`, "~"}, parts[2]) || parts[0] == "filesystem" && len(parts) < 3
		if wide {
			r.note(p.Pos, len([]rune(p.S)), fmt.Sprintf("security.required-permissions[%d]", i),
				fmt.Sprintf("the permission %s is broader than a tool should need", p.S), "name the host or the folder: network:external:api.example.com, filesystem:write:{DIRECTORY}")
		}
	}
}

func justification(r *checker) {
	if s := r.def.Security; s.ExecutionPrivilege == "elevated" && strings.TrimSpace(s.Justification) == "" {
		r.toolNote("the tool needs elevated rights but has no justification", "add security.justification, which is shown in the question for approval, or do not require elevated rights")
	}
}

func noTests(r *checker) {
	if len(r.def.Tests) == 0 {
		r.toolNote("the tool has no tests", "add one under tests:; flowrun tool test runs it in a new folder")
	}
}

func platformTests(r *checker) {
	platforms := slices.Clone(r.def.Platforms)
	for _, s := range r.steps {
		commands, ok := s.Body.(*tool.Commands)
		if !ok {
			continue
		}
		for os := range commands.Platforms {
			if !slices.Contains(platforms, os) {
				platforms = append(platforms, os)
			}
		}
	}
	slices.Sort(platforms)
	if len(platforms) < 2 || len(r.def.Tests) == 0 {
		return
	}
	for _, os := range platforms {
		runs := func(t tool.Test) bool { return len(t.Platforms) == 0 || slices.Contains(t.Platforms, os) }
		if !slices.ContainsFunc(r.def.Tests, runs) {
			r.note(r.def.Tests[0].Pos, 1, "tests", "the tool supports "+os+", but no test runs on it", "add a test with platforms: ["+os+"], or one without platforms")
		}
	}
}

func securityTag(r *checker) {
	for _, t := range r.def.Tags {
		if slices.Contains([]string{"read", "write", "run"}, t) {
			return
		}
	}
	r.toolNote("no tag says what the tool may do, so calls by models treat it as the riskiest kind", "add one of read, write and run: tags: [read]")
}

func memoryLimit(r *checker) {
	if r.def.Resources.MaxMemory > 0 {
		return
	}
	for _, s := range r.steps {
		if program := programIn(s, memoryPrograms()); program != "" {
			r.stepNote(s, fmt.Sprintf("%s runs %s, which can use all available memory", r.subject(s), program), "limit it: resources: {max-memory: 1GB}")
			return
		}
	}
}

func noCleanup(r *checker) {
	res := r.def.Resources
	if res.DeleteTempFiles || len(res.FinalCommands) > 0 || r.def.FilePaths.TempDirectory != nil || len(r.def.Handlers.Finally) > 0 {
		return
	}
	for _, s := range r.steps {
		for _, text := range commands(s) {
			if made := temporary().FindString(text); made != "" && !cleansUp().MatchString(text) && s.Handlers.Finally == nil {
				r.stepNote(s, fmt.Sprintf("%s creates temporary files (%s), and nothing removes them", r.subject(s), strings.TrimSpace(made)),
					"set file-paths.temp-directory and write to $FLOWRUN_TEMP, or add resources: {cleanup: [{final-command: rm ...}]}")
				return
			}
		}
	}
}

var (
	temporary = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\bmktemp\b|>\s*["']?(/tmp/|\{TEMP\})|\$\(mktemp`) })
	cleansUp  = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\btrap\b|\brm\b`) })
)
