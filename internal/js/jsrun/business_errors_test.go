package jsrun

import (
	"context"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/flowrun/flowrun/internal/lang/tool"
)

// getBusinessErrors and getBridgeErrors may return a list, one entry, or an object of either.
func TestErrorEntryForms(t *testing.T) {
	heard := func(context.Context, string, json.RawMessage) (any, error) { return nil, nil }
	for name, c := range map[string]struct{ methods, throws, code string }{
		"a list":                      {`getBusinessErrors: () => [{code: 'A', match: /one/}]`, "one", "A"},
		"one entry":                   {`getBusinessErrors: () => ({code: 'A', match: /one/})`, "one", "A"},
		"by code":                     {`getBusinessErrors: () => ({A: {match: /one/}, B: {match: 'two'}})`, "two", "B"},
		"by a key beside the code":    {`getBusinessErrors: () => ({first: {code: 'A', match: /one/}})`, "one", "A"},
		"lists":                       {`getBusinessErrors: () => ({net: [{code: 'A', match: /one/}], disk: [{code: 'B', match: /two/}]})`, "two", "B"},
		"identify":                    {`getBusinessErrors: () => [{code: 'A', identify: e => e.message === 'one'}]`, "one", "A"},
		"nothing":                     {`getBusinessErrors() {}`, "one", ""},
		"a promise":                   {`getBusinessErrors: async () => ({code: 'A', match: /one/})`, "one", "A"},
		"the bridge that failed":      {`getBridgeErrors: () => ({a: [{code: 'A', match: /one/}], b: [{code: 'B', match: /one/}]})`, "bridge b: one", "B"},
		"an error outside of bridges": {`getBridgeErrors: () => ({a: [{code: 'A', match: /one/}]})`, "one", ""},
		"bridge errors by code":       {`getBridgeErrors: () => ({A: {match: /one/}})`, "one", "A"},
	} {
		t.Run(name, func(t *testing.T) {
			s := CompileModule(&tool.Module{File: "x.tool.js", Code: []byte(`module.exports = {` + c.methods + `,
  getBridges: () => ({ a: {real() { throw new Error('one') }}, b: {real(text) { throw new Error(text) }} }),
  async execute({text}) {
    if (text.startsWith('bridge b: ')) await this.api.bridge.execute('b', text)
    throw new Error(text)
  }}`)})
			both(t, Call{Script: s, Entry: "execute", Vars: map[string]any{"params": map[string]any{"text": c.throws}, "tool": map[string]any{"id": "x"}}, Ask: heard}, func(t *testing.T, result string, err error) {
				var e *Error
				if !errors.As(err, &e) {
					t.Fatal(result, err)
				}
				got := ""
				if e.Business != nil {
					got = e.Business.Code
				}
				if got != c.code {
					t.Errorf("got the code %q (%v), want %q", got, e, c.code)
				}
			})
			both(t, Call{Script: s, Entry: "describe"}, func(t *testing.T, result string, err error) {
				if err != nil || !strings.Contains(result, `"problems":[]`) {
					t.Error(result, err)
				}
			})
		})
	}
}
