package serve

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"runtime"
	"strings"

	"github.com/spf13/cobra"

	"github.com/flowrun/flowrun/internal/cli/ui"
	"github.com/flowrun/flowrun/internal/confine"
	"github.com/flowrun/flowrun/internal/service"
)

// shortestToken is how many characters a token has at least: so many that it cannot be
// guessed, if they were made at random.
const shortestToken = 16

// makeToken is the hint for users who need a token.
const makeToken = "create one: openssl rand -hex 32"

// givenTokens are the token of the environment, where steps shall not find it, or those of
// a file. Both are nil where none was given.
func givenTokens(c *cobra.Command, file string) ([]service.Token, error) {
	text, given := os.LookupEnv("FLOWRUN_TOKEN")
	if err := confine.ForgetEnv("FLOWRUN_TOKEN"); err != nil && text != "" {
		return nil, ui.NoService("steps could read FLOWRUN_TOKEN: %w; use --token-file instead", err)
	}
	if file != "" {
		return tokensOf(c, file)
	}
	if !given || text == "" {
		return nil, nil
	}
	if why := badToken(text); why != "" {
		return nil, ui.Usagef(c, "the token in FLOWRUN_TOKEN %s", why)
	}
	return []service.Token{{Text: text}}, nil
}

// tokensOf reads a file with a token in each line, which may be followed by patterns of
// the tools that it is good for. Empty lines, and those that begin with #, are left out.
func tokensOf(c *cobra.Command, file string) (list []service.Token, err error) {
	text, err := readPrivate(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ui.Missing(fmt.Errorf("--token-file: %w", err))
	case err != nil:
		return nil, ui.Usagef(c, "--token-file: %v", err)
	}
	for n, line := range strings.Split(string(text), "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if why := badToken(words[0]); why != "" {
			return nil, ui.Usagef(c, "--token-file %s:%d: the token %s", file, n+1, why)
		}
		t := service.Token{Text: words[0]}
		for _, p := range words[1:] {
			if err := service.CheckPattern(p); err != nil {
				return nil, ui.Usagef(c, "--token-file %s:%d: %q is not a valid pattern for tool names: %v", file, n+1, p, err)
			}
			t.Tools = append(t.Tools, p)
		}
		list = append(list, t)
	}
	if len(list) == 0 {
		return nil, ui.Usagef(c, "--token-file %s contains no token; create one: openssl rand -hex 32 > %s", file, file)
	}
	return list, nil
}

// badToken is why a text cannot be a token; "" where it can. It does not repeat the text.
func badToken(text string) string {
	switch {
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "cannot be sent in a header: use only ASCII letters, digits and punctuation, without spaces"
	case len(text) < shortestToken:
		return fmt.Sprintf("has %d characters and could be guessed: use at least %d; %s", len(text), shortestToken, makeToken)
	}
	return ""
}

// readPrivate reads a file with secrets. One that other users may read or change, or its
// group may change, is refused.
func readPrivate(file string) ([]byte, error) {
	f, err := os.Open(file)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if mode := info.Mode().Perm(); runtime.GOOS != "windows" && info.Mode().IsRegular() && mode&0o027 != 0 {
		return nil, fmt.Errorf("%s has mode %04o: other users can read or change it; chmod 600 %s, and replace its tokens", file, mode, file)
	}
	const most = 1 << 20
	return io.ReadAll(io.LimitReader(f, most))
}
