package serve

import (
	"crypto/tls"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/service"
)

// TestCheckAddress: an address that other machines reach needs TLS, and somebody who may use the service.
func TestCheckAddress(t *testing.T) {
	token := []service.Token{{Text: "0123456789abcdef"}}
	for _, c := range []struct {
		at       string
		tls      bool
		tokens   []service.Token
		hasUsers bool
		want     string // "": allowed
	}{
		{at: "127.0.0.1:7878"},
		{at: "127.9.9.9:7878"},
		{at: "[::1]:7878"},
		{at: "localhost:7878"},
		{at: ":7878"}, // this machine only
		{at: "unix:/run/flowrun.sock"},
		{at: "unix:", want: "needs a path"},
		{at: "7878", want: "give HOST:PORT, :PORT for this machine only, or unix:PATH"},
		{at: "0.0.0.0:0", want: "this requires --tls-cert and --tls-key and a token (FLOWRUN_TOKEN or --token-file)"},
		{at: "[::]:0", want: "this requires --tls-cert and --tls-key and a token"},
		{at: "192.0.2.1:80", tls: true, want: "this requires a token"},
		{at: "example.org:80", tokens: token, want: "this requires --tls-cert and --tls-key"},
		{at: "example.org:80", hasUsers: true, want: "this requires --tls-cert and --tls-key"},
		{at: "example.org:80", tls: true, tokens: token},
		{at: "example.org:80", tls: true, hasUsers: true},
	} {
		ls := &listeners{tokens: c.tokens}
		if c.tls {
			ls.tls = &tls.Config{}
		}
		err := ls.checkAddress(&cobra.Command{}, c.at, c.hasUsers)
		if (err == nil) != (c.want == "") || err != nil && !strings.Contains(err.Error(), c.want) {
			t.Errorf("%+v: %v", c, err)
		}
	}
}

// TestBrowserURL: a browser on this machine opens the first address that it can reach.
func TestBrowserURL(t *testing.T) {
	for want, urls := range map[string][]string{
		"":                       {"unix:/run/flowrun.sock"},
		"http://127.0.0.1:7878":  {"unix:/run/flowrun.sock", "http://127.0.0.1:7878", "http://127.0.0.1:7879"},
		"https://localhost:7878": {"https://0.0.0.0:7878"},
		"https://localhost:7879": {"https://[::]:7879"},
	} {
		if got := (&listeners{urls: urls}).browserURL(); got != want {
			t.Errorf("%q: %q, want %q", urls, got, want)
		}
	}
}

// TestTokenFile: which files of tokens are read, and what is wrong with the others. No message has a token.
func TestTokenFile(t *testing.T) {
	const good = "0123456789abcdef"
	for name, c := range map[string]struct {
		text string
		want []service.Token
		err  string
	}{
		"one":              {text: good + "\n", want: []service.Token{{Text: good}}},
		"no line end":      {text: good, want: []service.Token{{Text: good}}},
		"comments":         {text: "# of the build\n\n  " + good + "\r\n", want: []service.Token{{Text: good}}},
		"with patterns":    {text: good + " build-* deploy\n" + good + "2\n", want: []service.Token{{Text: good, Tools: []string{"build-*", "deploy"}}, {Text: good + "2"}}},
		"empty":            {text: "", err: "contains no token"},
		"comment only":     {text: "# none\n", err: "contains no token"},
		"short":            {text: "# of the build\nabcde\n", err: ":2: the token has 5 characters and could be guessed: use at least 16"},
		"just too short":   {text: good[:15], err: "has 15 characters"},
		"not of a header":  {text: good + "\u00e9", err: "cannot be sent in a header"},
		"not a pattern":    {text: good + " hello [", err: `"[" is not a valid pattern for tool names`},
		"second is wrong":  {text: good + "\nabcde\n", err: ":2: the token has 5"},
		"control sequence": {text: good + "\x1b[m", err: "cannot be sent in a header"},
	} {
		file := filepath.Join(t.TempDir(), "tokens")
		if err := os.WriteFile(file, []byte(c.text), 0o600); err != nil {
			t.Fatal(err)
		}
		got, err := readTokenFile(&cobra.Command{}, file)
		if (err == nil) != (c.err == "") || err != nil && !strings.Contains(err.Error(), c.err) || !reflect.DeepEqual(got, c.want) {
			t.Errorf("%s: %+v, %v", name, got, err)
		}
		if err != nil && (strings.Contains(err.Error(), good[:15]) || strings.Contains(err.Error(), "abcde")) {
			t.Errorf("%s: the error has the token: %v", name, err)
		}
	}
}
