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
	"github.com/flowrun/flowrun/internal/os/confine"
	"github.com/flowrun/flowrun/internal/os/ownership"
	"github.com/flowrun/flowrun/internal/service"
	"github.com/flowrun/flowrun/internal/service/catalog"
)

// minTokenLength is the minimum length of a token in characters. A random token of this length
// cannot be guessed.
const minTokenLength = 16

// tokenHint is the hint for users who need a token.
const tokenHint = "create one: openssl rand -hex 32"

// loadTokens returns the token from FLOWRUN_TOKEN, or those of the file. It removes FLOWRUN_TOKEN
// from the environment, so that steps cannot read it. It returns nil if neither is given.
func loadTokens(c *cobra.Command, file string) ([]service.Token, error) {
	text, given := os.LookupEnv("FLOWRUN_TOKEN")
	if err := confine.ForgetEnv("FLOWRUN_TOKEN"); err != nil && text != "" {
		return nil, ui.ServiceErrorf("steps could read FLOWRUN_TOKEN: %w; use --token-file instead", err)
	}
	if file != "" {
		return readTokenFile(c, file)
	}
	if !given || text == "" {
		return nil, nil
	}
	if why := tokenProblem(text); why != "" {
		return nil, ui.Usagef(c, "the token in FLOWRUN_TOKEN %s", why)
	}
	return []service.Token{{Text: text}}, nil
}

// readTokenFile reads a token file. Each line has a token, optionally followed by patterns of the
// tools that it may call. Empty lines and lines that begin with # are ignored.
func readTokenFile(c *cobra.Command, file string) (list []service.Token, err error) {
	text, err := readPrivate(file)
	switch {
	case errors.Is(err, fs.ErrNotExist):
		return nil, ui.Missing(fmt.Errorf("cannot read --token-file %s: %w; to create it: (umask 077; openssl rand -hex 32 > %[1]s)", file, err))
	case err != nil:
		return nil, ui.Usagef(c, "cannot read --token-file %s: %w", file, err)
	}
	for n, line := range strings.Split(string(text), "\n") {
		words := strings.Fields(line)
		if len(words) == 0 || strings.HasPrefix(words[0], "#") {
			continue
		}
		if why := tokenProblem(words[0]); why != "" {
			return nil, ui.Usagef(c, "--token-file %s:%d: the token %s", file, n+1, why)
		}
		t := service.Token{Text: words[0]}
		for _, p := range words[1:] {
			if err := catalog.CheckPattern(p); err != nil {
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

// tokenProblem returns why a text cannot be a token, or "" if it can. The reason does not contain the
// text.
func tokenProblem(text string) string {
	switch {
	case strings.ContainsFunc(text, func(r rune) bool { return r <= ' ' || r > '~' }):
		return "cannot be sent in a header: use only ASCII letters, digits and punctuation, without spaces"
	case len(text) < minTokenLength:
		return fmt.Sprintf("has %d characters and could be guessed: use at least %d; %s", len(text), minTokenLength, tokenHint)
	}
	return ""
}

// readPrivate reads a file with secrets. It returns an error if other users can read or change the
// file, such as its owner if that is neither this user nor root, or if its group can change it.
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
		return nil, fmt.Errorf("its mode is %04o, so other users can read or change it; chmod 600 %s, and replace its tokens", mode, file)
	}
	if why := ownership.OtherOwner(info); why != "" && info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s, who can read and change it; make it yours with chown, and replace its tokens", why)
	}
	const most = 1 << 20
	return io.ReadAll(io.LimitReader(f, most))
}
