package lint

import (
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

// This file contains the practices for parameters.

func (r *checker) eachParameter(look func(p *tool.Parameter)) {
	for _, p := range r.def.Parameters {
		look(p)
	}
}

// hasRule reports whether a parameter has a validation rule for its value.
func hasRule(p *tool.Parameter) bool {
	v := p.Validation
	return len(v.Enum) > 0 || v.Pattern != nil || v.MaxLength != nil || v.Minimum != nil || v.Maximum != nil
}

func enumParameter(r *checker) {
	r.eachParameter(func(p *tool.Parameter) {
		if p.Type == "string" && !hasRule(p) && slices.Contains([]string{"METHOD", "LEVEL", "MODE"}, lastWord(p.Name)) {
			r.parameterNote(p, fmt.Sprintf("%s accepts any text, although only a few values make sense", p.Name), "list them: validation: {enum: [...]}; flowrun then completes and checks them, and models see them")
		}
	})
}

func upperCase(r *checker) {
	r.eachParameter(func(p *tool.Parameter) {
		if p.Name != strings.ToUpper(p.Name) {
			r.parameterNote(p, fmt.Sprintf("the parameter %s is not in upper case", p.Name), "rename it "+upperSnake(p.Name)+", so that {"+upperSnake(p.Name)+"} cannot be mistaken for a step or for text")
		}
	})
}

var camelCase = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`([a-z0-9])([A-Z])`) })

// upperSnake returns a name in upper case, with '_' between words.
func upperSnake(name string) string {
	return strings.ToUpper(camelCase().ReplaceAllString(name, "${1}_${2}"))
}

func separators(r *checker) {
	first := map[string]*tool.Parameter{}
	r.eachParameter(func(p *tool.Parameter) {
		both := strings.Contains(p.Name, "_") && strings.Contains(p.Name, "-")
		for own, other := range map[string]string{"_": "-", "-": "_"} {
			if !strings.Contains(p.Name, own) {
				continue
			}
			if before := first[other]; before != nil && !both {
				r.parameterNote(p, fmt.Sprintf("%s separates words with %q, but %s uses %q", p.Name, own, before.Name, other), "use the same separator in all names: "+strings.ReplaceAll(p.Name, own, other))
			}
			if first[own] == nil && !both {
				first[own] = p
			}
		}
		if both {
			r.parameterNote(p, fmt.Sprintf("%s separates words in two ways", p.Name), "use one separator: "+strings.ReplaceAll(p.Name, "-", "_"))
		}
	})
}

// abbreviations maps common abbreviations to their full words.
var abbreviations = map[string]string{
	"REPO": "REPOSITORY", "FMT": "FORMAT", "DIR": "DIRECTORY", "DEST": "DESTINATION", "SRC": "SOURCE", "DST": "DESTINATION",
	"CFG": "CONFIG", "MSG": "MESSAGE", "PWD": "PASSWORD", "PASSWD": "PASSWORD", "USR": "USER", "NUM": "NUMBER", "CNT": "COUNT",
	"LANG": "LANGUAGE", "DESC": "DESCRIPTION", "ADDR": "ADDRESS", "PARAM": "PARAMETER", "ARGS": "ARGUMENTS", "PKG": "PACKAGE",
	"TMP": "TEMPORARY", "VAL": "VALUE", "LOC": "LOCATION", "IMG": "IMAGE", "BTN": "BUTTON", "QTY": "QUANTITY", "AMT": "AMOUNT",
}

func abbreviation(r *checker) {
	r.eachParameter(func(p *tool.Parameter) {
		for _, w := range words(p.Name) {
			if long := abbreviations[w]; long != "" {
				full := strings.Replace(strings.ToUpper(p.Name), w, long, 1)
				r.parameterNote(p, fmt.Sprintf("%s contains an abbreviation", p.Name), "write it out: "+full)
				return
			}
		}
	})
}

func groupPrefix(r *checker) {
	ends := map[string]*tool.Parameter{}
	r.eachParameter(func(p *tool.Parameter) {
		last := lastWord(p.Name)
		if len(words(p.Name)) < 2 || !slices.Contains([]string{"SOURCE", "TARGET", "INPUT", "OUTPUT", "SRC", "DST"}, last) {
			return
		}
		if before := ends[last]; before != nil {
			w := words(p.Name)
			r.parameterNote(p, fmt.Sprintf("%s and %s belong together, but their common word comes last", before.Name, p.Name),
				"put it first, so that they are next to each other in a sorted list: "+last+"_"+strings.Join(w[:len(w)-1], "_"))
		}
		ends[last] = p
	})
}

func booleanName(r *checker) {
	r.eachParameter(func(p *tool.Parameter) {
		last := lastWord(p.Name)
		if p.Type != "boolean" {
			return
		}
		switch {
		case last == "VERBOSITY":
			r.parameterNote(p, p.Name+" is true or false, but its name suggests an amount", "rename it VERBOSE")
		case strings.HasSuffix(last, "ITY") || strings.HasSuffix(last, "NESS"):
			r.parameterNote(p, p.Name+" is true or false, but its name suggests an amount", "name it after the state that true means: VERBOSE, not VERBOSITY")
		}
	})
}

func valueName(r *checker) {
	r.eachParameter(func(p *tool.Parameter) {
		w := words(p.Name)
		if len(w) < 2 || p.Type == "boolean" || !slices.Contains([]string{"HOW", "WHICH", "WHAT", "WHERE", "WHEN"}, w[0]) {
			return
		}
		better := "use a noun: COUNT, not HOW_MANY"
		if w[1] == "LONG" {
			better = "use a noun: DURATION, not HOW_LONG"
		}
		r.parameterNote(p, p.Name+" is a question; the name of a value should be a noun", better)
	})
}

func pathParameter(r *checker) {
	if f := r.def.FilePaths; f.Normalize || f.AutoConvert {
		return
	}
	r.eachParameter(func(p *tool.Parameter) {
		if p.Type != "string" || p.Path || p.Format != nil || hasRule(p) {
			return
		}
		if w := words(p.Name); len(w) < 2 && lastWord(p.Name) != "PATH" || !slices.Contains([]string{"PATH", "DIRECTORY", "FOLDER"}, lastWord(p.Name)) {
			return
		}
		r.parameterNote(p, p.Name+" is a path, but flowrun does not adapt it to the platform", "add path: true to it and file-paths: {normalize: true} to the tool; flowrun then resolves ~ and .. and converts separators")
	})
}

func unescaped(r *checker) {
	r.eachParameter(func(p *tool.Parameter) {
		if p.EscapeShell != nil && !*p.EscapeShell && len(p.Validation.Enum) == 0 {
			r.parameterNote(p, fmt.Sprintf("%s is inserted into commands as code, so the caller decides what runs", p.Name),
				"remove escape-shell: false; for options, use format: or an array; otherwise list the allowed values in validation.enum")
		}
	})
}

func unvalidated(r *checker) {
	r.eachParameter(func(p *tool.Parameter) {
		if p.Type == "string" && !hasRule(p) && slices.Contains([]string{"TYPE", "EXTENSION", "VERSION", "EMAIL", "BRANCH", "PORT"}, lastWord(p.Name)) {
			r.parameterNote(p, fmt.Sprintf("%s accepts any text, although its values have a known format", p.Name), `check it: validation: {pattern: "^[a-zA-Z0-9]+$"}; for a number, use type: number with minimum and maximum`)
		}
	})
}

func unmasked(r *checker) {
	hidden := map[string]bool{}
	note := func(e tool.Environment) {
		for _, s := range e.Secrets {
			hidden[s.Name.S] = true
		}
	}
	note(r.def.Environment)
	for _, s := range r.steps {
		note(s.Environment)
		for _, m := range s.Output.MaskedValues {
			hidden[strings.Trim(m.S, "{}")] = true
		}
	}
	r.eachParameter(func(p *tool.Parameter) {
		if tool.LooksSecret(p.Name) && !hidden[p.Name] && p.Type == "string" {
			r.parameterNote(p, p.Name+" looks like a secret, but is shown in logs and history", "hide it: environment: {secrets: ["+p.Name+"]}, or output.masked-values: [\"{"+p.Name+"}\"] on the step")
		}
	})
}
