package mcpclient

import (
	"errors"
	"fmt"
	"net/url"
	"os"
	"path/filepath"
	"regexp"
	"slices"
	"strings"
	"sync"

	"github.com/flowrun/flowrun/internal/engine/dotenv"
)

// CheckServerName returns an error if a server cannot have a name: it is the beginning of the names of
// its tools.
func CheckServerName(name string) error {
	if !validServer().MatchString(name) || strings.Contains(name, separator) {
		return errors.New("names of servers have at most 60 characters: letters, digits, - and single _")
	}
	return nil
}

var (
	validServer = compiledOnce(`^[A-Za-z0-9]([A-Za-z0-9_-]{0,58}[A-Za-z0-9-])?$`)
	variable    = compiledOnce(`\$(?:\$|([A-Za-z_][A-Za-z0-9_]*)|\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|\{input:([^}]*)\})`)
)

// compiledOnce returns a function that compiles an expression when it is needed: most commands use no
// servers.
func compiledOnce(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// expand checks the settings of a server and replaces the variables in them. base is the folder for
// relative paths. The secrets are values that messages must not show.
func (c ServerConfig) expand(base string) (out ServerConfig, secrets []string, err error) {
	if err := c.check(); err != nil {
		return c, nil, err
	}
	var unset, asked []string
	hide := func(v string) {
		if len(v) >= 6 { // shorter values would hide words by chance
			secrets = append(secrets, v, url.QueryEscape(v), url.PathEscape(v))
		}
	}
	fill := func(text string) string {
		return variable().ReplaceAllStringFunc(text, func(word string) string {
			m := variable().FindStringSubmatch(word)
			name := m[1] + m[2]
			switch {
			case word == "$$":
				return "$"
			case strings.HasPrefix(word, "${input:"):
				asked = append(asked, m[4])
				return ""
			case name == "workspaceFolder":
				return base
			case name == "userHome":
				home, _ := os.UserHomeDir()
				return home
			}
			v, ok := os.LookupEnv(name)
			if byDefault := strings.Contains(word, ":-"); byDefault && v == "" {
				return m[3]
			} else if !ok {
				unset = append(unset, name)
			}
			if !slices.Contains(passed, name) { // every server gets those
				hide(v)
			}
			return v
		})
	}
	fillAll := func(from map[string]string) map[string]string {
		to := make(map[string]string, len(from))
		for k, v := range from {
			to[k] = fill(v)
			hide(to[k])
		}
		return to
	}
	out = c
	out.Args = make([]string, len(c.Args))
	for i, arg := range c.Args {
		out.Args[i] = fill(arg)
	}
	out.Command, out.URL, out.HTTPURL = fill(c.Command), fill(c.URL), fill(c.HTTPURL)
	out.Env, out.Headers = fillAll(c.Env), fillAll(c.Headers)
	out.OAuth.ClientID, out.OAuth.ClientSecret = fill(c.OAuth.ClientID), fill(c.OAuth.ClientSecret)
	hide(out.OAuth.ClientSecret)
	if out.Dir = fill(c.Dir); !filepath.IsAbs(out.Dir) {
		out.Dir = filepath.Join(base, out.Dir)
	}
	if out.EnvFile = fill(c.EnvFile); out.EnvFile != "" {
		more, err := readEnvFile(out.EnvFile, base)
		if err != nil {
			return out, secrets, err
		}
		for name, v := range more {
			if _, set := out.Env[name]; !set {
				out.Env[name] = v
				hide(v)
			}
		}
	}
	if len(asked) > 0 {
		slices.Sort(asked)
		return out, secrets, fmt.Errorf("its settings refer to inputs that an editor would ask for: %s; write the value, or $NAME for an environment variable", strings.Join(slices.Compact(asked), ", "))
	}
	secrets = slices.DeleteFunc(secrets, func(s string) bool { // messages say which program was not found, and where
		return filepath.IsAbs(s) && (strings.HasPrefix(out.Command, s) || strings.HasPrefix(out.Dir, s))
	})
	if out.URL != "" && isStreamable(out.Type) {
		out.URL, out.HTTPURL = "", out.URL
	}
	if len(unset) > 0 {
		slices.Sort(unset)
		return out, secrets, fmt.Errorf("its settings refer to variables that are not set: %s", strings.Join(slices.Compact(unset), ", "))
	}
	return out, secrets, nil
}

// readEnvFile returns the variables of a file. A relative path is relative to base.
func readEnvFile(path, base string) (map[string]string, error) {
	if !filepath.IsAbs(path) {
		path = filepath.Join(base, path)
	}
	text, err := dotenv.Read(path)
	if err != nil {
		return nil, fmt.Errorf("cannot read its envFile: %w", err)
	}
	vars, problems := dotenv.Parse(path, text, os.LookupEnv)
	if err := problems.Err(); err != nil {
		return nil, fmt.Errorf("cannot read its envFile: %w", err)
	}
	env := make(map[string]string, len(vars))
	for _, v := range vars {
		env[v.Name] = v.Value
	}
	return env, nil
}

// check returns an error if a server cannot be used with its settings.
func (c ServerConfig) check() error {
	if err := CheckServerName(c.Name); err != nil {
		return fmt.Errorf("its name is not valid: %w", err)
	}
	given := 0
	for _, s := range []string{c.Command, c.URL, c.HTTPURL} {
		if s != "" {
			given++
		}
	}
	switch {
	case given != 1:
		return errors.New("its settings must have one of command, url and httpUrl")
	case slices.Contains(chain(), c.Name):
		return errors.New("it is not started again by itself")
	case c.Type == "", c.Type == TypeProgram && c.Command != "", c.Command == "" && isStreamable(c.Type), c.Type == TypeSSE && c.URL != "":
		return nil
	}
	return fmt.Errorf("its type %q does not fit its settings; the types are %s with command, and %s and %s with url", c.Type, TypeProgram, TypeHTTP, TypeSSE)
}

// isStreamable reports whether a type means streamable HTTP, in one of the spellings that programs use.
func isStreamable(kind string) bool {
	return slices.Contains([]string{TypeHTTP, "streamable-http", "streamableHttp", "streamable_http"}, kind)
}
