package compile

import (
	"errors"
	"fmt"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/expr"
	"github.com/flowrun/flowrun/hooks"
	"github.com/flowrun/flowrun/internal/plan"
	"github.com/flowrun/flowrun/internal/script"
	"github.com/flowrun/flowrun/tool"
)

// functionName is what stands alone where a function is named that value is given to.
var functionName = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`^[A-Za-z_$][\w$]*(\.[A-Za-z_$][\w$]*)*$`) })

// bareFunctions are the functions of the language that have no dot in their names. int is
// no name of JavaScript: it is Math.trunc for those who know it from elsewhere.
var bareFunctions = []string{"String", "Number", "Boolean", "parseInt", "parseFloat", "encodeURI", "encodeURIComponent", "decodeURI", "decodeURIComponent", "int"}

// transforms compiles what is done to a parameter's value before it is used: predefined
// functions, or JavaScript.
func (c *compiler) transforms(p *plan.Param, at tool.Text) {
	list, err := expr.ParseTransforms(at.S)
	switch {
	case errors.Is(err, expr.ErrJavaScript):
		if t := c.jsTransform(at); t != nil {
			p.JS = t
		}
	case err != nil:
		c.errorf("transform", at, "", "%v", err)
	}
	p.Transforms = list
}

func (c *compiler) jsTransform(at tool.Text) *script.Transform {
	name := strings.TrimSpace(at.S)
	code := at
	if functionName().MatchString(name) && name != "value" && !strings.HasPrefix(name, "value.") {
		if !strings.Contains(name, ".") && !slices.Contains(bareFunctions, name) {
			c.noTransform(at, name)
			return nil
		}
		code.S = at.S + "(value)"
		if name == "int" {
			code.S = "Math.trunc(value)"
		}
	}
	s := c.script(code, hooks.Expression, "value")
	if s == nil {
		return nil
	}
	return &script.Transform{Script: s}
}

func (c *compiler) noTransform(at tool.Text, name string) {
	hint := "use " + expr.TransformList + ", or JavaScript over value, as in value.replace(/ +/g, '-')"
	if near := tool.Near(name, append(expr.TransformNames(), bareFunctions...)); len(near) > 0 {
		hint = fmt.Sprintf("did you mean %q?", near[0])
	}
	c.errorf("transform", at, hint, "there is no transform %q", name)
}
