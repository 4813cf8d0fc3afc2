//go:build unix

package mcp_test

import (
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestInteractive checks that the user of a client answers interactive steps. Without an answer, the step gets its
// default response.
func TestInteractive(t *testing.T) {
	for name, test := range map[string]struct {
		answer  *sdk.ElicitResult // nil: the client cannot ask
		version string
		want    string
	}{
		"typed":                   {&sdk.ElicitResult{Action: "accept", Content: map[string]any{"input": "Ada"}}, "2025-11-25", "hello Ada\n"},
		"declined":                {&sdk.ElicitResult{Action: "decline"}, "2025-11-25", "hello nobody\n"},
		"closed":                  {&sdk.ElicitResult{Action: "cancel"}, "2025-11-25", "hello nobody\n"},
		"a control character":     {&sdk.ElicitResult{Action: "accept", Content: map[string]any{"input": "\x03"}}, "2025-11-25", "hello nobody\n"},
		"a client without forms":  {nil, "2025-11-25", "hello nobody\n"},
		"a version without forms": {&sdk.ElicitResult{Action: "accept", Content: map[string]any{"input": "Ada"}}, "2026-07-28", "hello nobody\n"},
	} {
		t.Run(name, func(t *testing.T) {
			t.Parallel()
			s := serve(t, nil)
			s.write(t, "talk", `{name: talk, description: Talks, tags: [free], interactive: true, interactive-options: {default-response: nobody}, bash: 'printf "\033[1mwhat is your name? \033[0m"; read n; echo "hello $n"'}`)
			s.Refresh()
			var o *sdk.ClientOptions
			if test.answer != nil {
				o = elicit(func(p *sdk.ElicitParams) (*sdk.ElicitResult, error) {
					if want := "Step talk is waiting for input. It has printed:\n\n  what is your name? "; p.Message != want {
						t.Errorf("the person is shown %q, want %q", p.Message, want)
					}
					return test.answer, nil
				})
			}
			if r := callTool(t, s.connectWith(t, o, test.version), "talk", nil); r.IsError || !strings.HasSuffix(text(r), test.want) {
				t.Errorf("%q, want %q", text(r), test.want)
			}
		})
	}
}
