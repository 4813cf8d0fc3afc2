package github

import (
	"strings"

	"github.com/flowrun/flowrun/internal/importer"
)

// expression returns an expression without ${{ }} around it.
func expression(s string) string {
	e := strings.TrimSpace(s)
	if strings.HasPrefix(e, "${{") && strings.HasSuffix(e, "}}") && strings.Count(e, "${{") == 1 {
		e = strings.TrimSpace(e[3 : len(e)-2])
	}
	return e
}

// condition returns the condition of flowrun for an if.
func (c *context) condition(s string) (when, why string) {
	e := expression(s)
	switch e {
	case "always()", "failure()", "cancelled()", "success()":
		return e, ""
	case "!cancelled()":
		return "success() || failure()", ""
	case "true":
		return "", ""
	}
	for _, op := range []string{"==", "!="} {
		left, right, ok := strings.Cut(e, op)
		left, right = strings.TrimSpace(left), strings.TrimSpace(right)
		if !ok || len(right) < 2 || right[0] != '\'' || right[len(right)-1] != '\'' || !importer.Plain(right[1:len(right)-1]) {
			continue
		}
		if ref := c.compared(left); ref != "" {
			return comparison(ref, op, right[1:len(right)-1]), ""
		}
	}
	return "", "flowrun does not evaluate " + short(e)
}

// compared returns the placeholder of the left side of a comparison, or "".
func (c *context) compared(e string) string {
	scope, name, _ := strings.Cut(e, ".")
	switch {
	case scope == "matrix" && c.matrix[name] != nil:
		return importer.Ref(e)
	case scope == "inputs" && c.params[name]:
		return importer.Ref(name)
	}
	return c.output(e)
}

// comparison compares as GitHub does, which ignores case: otherwise != would let through what GitHub stops.
func comparison(ref, op, text string) string {
	if strings.ToLower(text) == strings.ToUpper(text) {
		return "'" + ref + "' " + op + " '" + text + "'"
	}
	var pattern strings.Builder
	for _, r := range text { // a plain text: only these characters mean something in a pattern
		if strings.ContainsRune(".+", r) {
			pattern.WriteString("[" + string(r) + "]")
		} else {
			pattern.WriteRune(r)
		}
	}
	when := "'" + ref + "' matches '(?i)^" + pattern.String() + "$'"
	if op == "!=" {
		return "!(" + when + ")"
	}
	return when
}
