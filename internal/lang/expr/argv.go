package expr

import (
	"errors"
	"fmt"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/valuetext"
)

// argvWord is one word of a run: command. The command is split before values are put in, so
// a value with spaces stays in its word.
type argvWord struct {
	parts    []argvPart
	quoted   bool // the word has quotes and stays even when it is empty
	argument bool // the word is not the program, and no -- comes before it
}

type argvPart struct {
	text        string
	placeholder *placeholder
	quoted      bool
}

// argvSplitter splits a command into words. It knows single quotes, double quotes and
// backslashes, and nothing else: no variables and no globs.
type argvSplitter struct {
	words       []argvWord
	cur         *argvWord
	quote       byte
	afterDashes bool // after --, where words are not options
}

func splitArgv(src string, pieces []piece) ([]argvWord, []Problem) {
	var s argvSplitter
	for _, p := range pieces {
		if p.placeholder != nil {
			s.add(argvPart{placeholder: p.placeholder, quoted: s.quote != 0})
			continue
		}
		if !s.read(p.text) {
			return nil, []Problem{problemf(codeSyntax, len(src), 0, "write \\\\ for a backslash", "the command ends with a backslash")}
		}
	}
	if s.quote != 0 {
		return nil, []Problem{problemf(codeSyntax, strings.LastIndexByte(src, s.quote), 1,
			`close it, or put a backslash before it`, "the quote %c is not closed", s.quote)}
	}
	s.end()
	if len(s.words) == 0 {
		return nil, []Problem{problemf(codeSyntax, 0, len(src), "start it with the name of a program", "the command is empty")}
	}
	return s.words, nil
}

// read splits text that the author wrote. It returns false if the text ends in a backslash.
func (s *argvSplitter) read(text string) bool {
	for i := 0; i < len(text); i++ {
		c := text[i]
		switch {
		case c == '\\' && s.quote != '\'':
			if i++; i == len(text) {
				return false
			}
			s.escaped(text[i])
		case s.quote != 0 && c == s.quote:
			s.quote = 0
		case s.quote == 0 && (c == '\'' || c == '"'):
			s.quote = c
			s.word().quoted = true
		case s.quote == 0 && strings.IndexByte(" \t\r\n", c) >= 0:
			s.end()
		default:
			n := strings.IndexAny(text[i+1:], " \t\r\n'\"\\") + 1
			if n == 0 {
				n = len(text) - i
			}
			s.add(argvPart{text: text[i : i+n]})
			i += n - 1
		}
	}
	return true
}

// escaped adds the character that follows a backslash. In double quotes the backslash escapes
// only \ and ", so that a path such as "C:\dir" stays as it is written.
func (s *argvSplitter) escaped(c byte) {
	switch {
	case s.quote == '"' && c != '"' && c != '\\':
		s.add(argvPart{text: "\\" + string(c)})
	case s.quote == 0 && c == '\n': // the backslash continues the line
	default:
		s.add(argvPart{text: string(c)})
	}
}

func (s *argvSplitter) word() *argvWord {
	if s.cur == nil {
		s.cur = &argvWord{argument: len(s.words) > 0 && !s.afterDashes}
	}
	return s.cur
}

func (s *argvSplitter) add(p argvPart) {
	w := s.word()
	if last := len(w.parts) - 1; p.placeholder == nil && last >= 0 && w.parts[last].placeholder == nil {
		w.parts[last].text += p.text
		return
	}
	w.parts = append(w.parts, p)
}

func (s *argvSplitter) end() {
	if s.cur == nil {
		return
	}
	if w := s.cur; len(w.parts) == 1 && w.parts[0].placeholder == nil && w.parts[0].text == "--" {
		s.afterDashes = true
	}
	s.words, s.cur = append(s.words, *s.cur), nil
}

// Argv renders an Argv template and returns the program and its arguments. It fails for a
// template that was parsed for a shell, if a value has no place in the command, and if every
// word is empty.
func (t *Template) Argv(sc Scope) ([]string, error) {
	if t.shell != Argv {
		return nil, errors.New("cannot split a script into words: it was parsed for a shell")
	}
	argv := make([]string, 0, len(t.words))
	size := valuetext.Total{Max: valuetext.MaxTogether}
	for _, w := range t.words {
		words, err := w.render(sc, &size)
		if err != nil {
			return nil, err
		}
		argv = append(argv, words...)
	}
	if len(argv) == 0 {
		return nil, errors.New("cannot run an empty command: all its values are empty")
	}
	return argv, nil
}

func (w argvWord) render(sc Scope, size *valuetext.Total) ([]string, error) {
	out := w.builder()
	for _, p := range w.parts {
		if p.placeholder == nil {
			out.addText(p.text)
			continue
		}
		v, ref, err := p.placeholder.value(sc)
		if err != nil {
			return nil, err
		}
		words, err := valueWords(p.placeholder, v, ref.Class, p.quoted || v.Raw)
		if err != nil {
			return nil, err
		}
		if err := size.AddAll(words, "the command with its values"); err != nil {
			return nil, err
		}
		atStart := len(out.words) == 0 || len(out.words) == 1 && out.words[0] == ""
		if err := v.checkDash(ref, words, w.argument, atStart); err != nil {
			return nil, err
		}
		out.addWords(words)
	}
	return out.words, nil
}

// builder returns what collects the word: it is there from the beginning if it is quoted.
func (w argvWord) builder() (out wordBuilder) {
	if w.quoted {
		out.addText("")
	}
	return out
}

// addWords adds words as a shell adds "$@": the first is joined to the text before it, the
// last to the text after it.
func (w *wordBuilder) addWords(words []string) {
	for i, word := range words {
		if i > 0 {
			w.inWord = false
		}
		w.addText(word)
	}
}

// valueWords returns the words that a value becomes: one if single is set, because the value
// is in quotes, otherwise any number.
func valueWords(ph *placeholder, v Value, class Class, single bool) ([]string, error) {
	words, err := v.words(class)
	if single {
		var text string
		text, err = v.text()
		words = []string{text}
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", ph.name(), err)
	}
	for _, w := range words {
		if err := checkNUL(ph, w); err != nil {
			return nil, err
		}
	}
	return words, nil
}

// checkDash rejects a value of the caller that a program would read as an option. argument
// reports that the word is an argument of a command, atStart that the word begins with the
// value.
func (v Value) checkDash(ref Ref, words []string, argument, atStart bool) error {
	return v.checkOption("-", ref, words, argument, atStart)
}

// checkOption is checkDash for options that begin with any of the characters in marks.
func (v Value) checkOption(marks string, ref Ref, words []string, argument, atStart bool) error {
	if !argument || !v.Caller || v.AllowDash || v.Raw || v.Format != nil || isNumber(v.V) {
		return nil
	}
	for i, w := range words {
		if (i > 0 || atStart) && w != "" && strings.IndexByte(marks, w[0]) >= 0 {
			return &DashError{Ref: ref, Value: w}
		}
	}
	return nil
}

// DashError reports that a caller's value begins with "-" where a program would read it as an
// option.
type DashError struct {
	Ref   Ref
	Value string
}

func (e *DashError) Error() string {
	return fmt.Sprintf("cannot pass %s as %s: it begins with %q, so the program would read it as an option; "+
		"write -- before the placeholder, set allow-dash: true for the parameter, or run with --allow-dash", valuetext.Quoted(e.Value), e.Ref, e.Value[:1])
}
