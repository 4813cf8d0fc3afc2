package mcp_test

import (
	"bytes"
	"strings"
	"testing"

	sdk "github.com/modelcontextprotocol/go-sdk/mcp"
)

// TestToolResources checks that clients can read the output of tools that have an address.
func TestToolResources(t *testing.T) {
	s := serve(t, nil)
	s.write(t, "guide", `{name: guide, description: The guide, tags: [free], resource: 'docs://guide', bash: 'echo read me'}`)
	s.write(t, "page", `{name: page, description: A page, tags: [free], resource: {uri: 'docs://pages/{NAME}/{N}', mime-type: text/markdown}, parameters: {NAME: {type: string, required: true}, N: {type: number, required: true}, MORE: {type: string, default: x}}, bash: 'echo "{NAME}|{N}|{MORE}"'}`)
	s.write(t, "logo", `{name: logo, description: A picture, tags: [free], resource: {uri: 'docs://logo', mime-type: image/png}, bash: 'printf "\211PNG\r\n\0\377"'}`)
	s.write(t, "parts", `{name: parts, description: Parts, tags: [free], resource: 'docs://parts', bash: 'printf %s ''{"llmContent": ["a", {"inlineData": {"mimeType": "image/gif", "data": "gIGC"}}]}'''}`)
	s.write(t, "large", `{name: large, description: Large data, tags: [free], resource: {uri: 'docs://large/{N}', mime-type: image/png}, parameters: {N: {type: number, required: true}}, bash: 'head -c {N} /dev/zero | LC_ALL=C tr "\0" "\377"'}`)
	s.write(t, "broken", `{name: broken, description: Fails, tags: [free], resource: 'docs://broken', bash: 'echo oh no >&2; exit 3'}`)
	s.write(t, "secret", `{name: secret, description: Refused, tags: [forbidden], resource: 'docs://secret', bash: 'echo x'}`)
	s.Refresh()
	c := s.connect(t, nil)
	read := func(uri string) (*sdk.ResourceContents, int, error) {
		r, err := c.ReadResource(t.Context(), &sdk.ReadResourceParams{URI: uri})
		if err != nil {
			return nil, 0, err
		}
		return r.Contents[len(r.Contents)-1], len(r.Contents), nil
	}
	for uri, want := range map[string]struct{ mime, text, blob, err string }{
		"docs://guide":                   {"text/plain", "read me\n", "", ""},
		"docs://pages/a%2Fb%20c/2":       {"text/markdown", "a/b c|2|x\n", "", ""},
		"docs://pages/a,b/2":             {"text/markdown", "a,b|2|x\n", "", ""},
		"docs://pages/$(id);'\"/2":       {"", "", "", "Resource not found"},
		"docs://pages/%24%28id%29%3B'/2": {"", "", "", "Resource not found"},
		"docs://pages/%24%28id%29%3B/2":  {"text/markdown", "$(id);|2|x\n", "", ""},
		"docs://pages/a/many":            {"", "", "", "N"},
		"docs://pages/a":                 {"", "", "", "Resource not found"},
		"docs://logo":                    {"image/png", "", "\211PNG\r\n\x00\377", ""},
		"docs://parts":                   {"image/gif", "", "\x80\x81\x82", ""},
		"docs://large/10000000":          {"image/png", "", strings.Repeat("\377", 10_000_000), ""},
		"docs://large/10000001":          {"", "", "", "more than the 10 MB that a resource can have"},
		"docs://broken":                  {"", "", "", "oh no"},
		"docs://secret":                  {"", "", "", "refused"},
	} {
		got, n, err := read(uri)
		switch {
		case want.err != "":
			if err == nil || !strings.Contains(err.Error(), want.err) || strings.Contains(err.Error(), "--auto-approve") {
				t.Errorf("%s: %v, want %q", uri, err, want.err)
			}
		case err != nil:
			t.Errorf("%s: %v", uri, err)
		case got.URI != uri || got.MIMEType != want.mime || got.Text != want.text || !bytes.Equal(got.Blob, []byte(want.blob)) || (n == 2) != (uri == "docs://parts"):
			t.Errorf("%s: %d contents, %s, %d bytes of text, %d of data, %.100q", uri, n, got.MIMEType, len(got.Text), len(got.Blob), got.Text)
		}
	}
}
