package expr

import (
	"errors"
	"fmt"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/flowrun/flowrun/internal/lang/quoting"
)

// Limits for values in the environment: Windows accepts 32767 characters per variable. Larger
// values are passed in files.
const (
	maxEnvValue  = 30_000
	maxEnvValues = 256 << 10
)

var errUTF8 = errors.New("cannot pass bytes that are not valid UTF-8: this shell supports only text; encode them first, as in {X:base64encode}")

func checkUTF8(ph *placeholder, words []string) error {
	for _, w := range words {
		if !utf8.ValidString(w) {
			return fmt.Errorf("%s: %w", ph.name(), errUTF8)
		}
	}
	return nil
}

// writePowerShell writes references to the value. Outside quotes a number or a boolean becomes a
// literal, so that it can be compared. Several words become a list and no word an empty list;
// programs get one argument for each element.
func (r *scriptRenderer) writePowerShell(ph *placeholder, v Value, words []string) error {
	if err := checkUTF8(ph, words); err != nil {
		return err
	}
	if ph.at.Place.Form == quoting.Inner {
		r.text.WriteString(r.psReference(words[0], true))
		return nil
	}
	items := make([]string, len(words))
	typed := psTyped(v, len(words))
	for i, w := range words {
		items[i] = r.psItem(w, typed, i)
	}
	if _, list := v.V.([]any); list && v.Format == nil || len(words) != 1 {
		r.text.WriteString("@(" + strings.Join(items, ", ") + ")")
		return nil
	}
	r.text.WriteString(items[0])
	return nil
}

// psTyped returns the values behind n words, nil if the words are text.
func psTyped(v Value, n int) []any {
	if v.Format != nil || v.literal {
		return nil
	}
	if elems, ok := v.V.([]any); ok && len(elems) == n {
		return elems
	}
	if n == 1 {
		return []any{v.V}
	}
	return nil
}

func (r *scriptRenderer) psItem(word string, typed []any, i int) string {
	if word == "" {
		return "''" // Windows has no empty variables
	}
	if typed != nil {
		if b, ok := typed[i].(bool); ok {
			return "$" + strconv.FormatBool(b)
		}
		if isNumber(typed[i]) && isNumberText(word) {
			return word
		}
	}
	return r.psReference(word, false)
}

// psReference returns a reference to a variable, for use inside double quotes or outside.
func (r *scriptRenderer) psReference(value string, inner bool) string {
	inline := len(value)
	for _, v := range r.vars {
		if !v.File {
			inline += len(v.Value)
		}
	}
	name := "${env:" + r.variable(value) + "}"
	if len(value) <= maxEnvValue && inline <= maxEnvValues {
		return name
	}
	r.vars[len(r.vars)-1].File = true
	read := "([IO.File]::ReadAllText(" + name + "))"
	if inner {
		return "$" + read
	}
	return read
}
