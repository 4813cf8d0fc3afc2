package decode

import (
	"fmt"
	"strconv"
	"strings"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/keytable"
)

// This file has the hints for keys of PaperAgents whose values flowrun writes in another form.

// conditionHint returns how to write condition: {field: STEP.FIELD, equals: VALUE}.
func conditionHint(condition *yaml.Node) string {
	const form = `{STEP.json.FIELD} == 'VALUE'`
	field, equals := scalarIn(condition, "field"), scalarIn(condition, "equals")
	if field == nil || equals == nil {
		return "write run-condition: \"" + form + "\", or {PARAMETER} instead of the part of a step"
	}
	value := equals.Value
	if equals.Tag == "!!str" {
		value = "'" + strings.ReplaceAll(strings.ReplaceAll(value, `\`, `\\`), "'", `\'`) + "'"
	}
	written := strconv.Quote("{" + conditionField(field.Value) + "} == " + value)
	return "write run-condition: " + diagnostic.Printable(written)
}

// conditionField returns the reference in a condition to a field of PaperAgents: params.NAME or STEP.FIELD.
func conditionField(field string) string {
	first, rest, nested := strings.Cut(field, ".")
	switch {
	case !nested:
		return first + ".output"
	case first == "params", first == "parameters":
		return rest
	}
	return first + ".json." + rest
}

// retryHint returns how to write retry: {maxAttempts: N, delay: MS}. maxAttempts includes the first attempt. In both
// programs the delay doubles with each retry.
func retryHint(retry *yaml.Node) string {
	attempts, delay := 2, ""
	if n := scalarIn(retry, "maxAttempts"); n != nil {
		if all, err := strconv.Atoi(n.Value); err == nil && all > 0 {
			attempts = all - 1
		}
	}
	for _, key := range []string{"delay", "backoffMs"} {
		if n := scalarIn(retry, key); n != nil {
			delay = ", delay: " + diagnostic.Printable(n.Value)
		}
	}
	return fmt.Sprintf("write error-handling: {retry: {attempts: %d%s}}; attempts does not count the first attempt", attempts, delay)
}

// scalarIn returns the value of a key, if n is a mapping with that key and the value is a scalar. Otherwise it returns
// nil.
func scalarIn(n *yaml.Node, key string) *yaml.Node {
	if n.Kind != yaml.MappingNode {
		return nil
	}
	v := keytable.ValueOf(n.Content, key)
	if v == nil || keytable.Deref(v).Kind != yaml.ScalarNode {
		return nil
	}
	return keytable.Deref(v)
}
