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
	"github.com/flowrun/flowrun/internal/model/servername"
)

var variable = compiledOnce(`\$(?:\$|([A-Za-z_][A-Za-z0-9_]*)|\{(?:env:)?([A-Za-z_][A-Za-z0-9_]*)(?::-([^}]*))?\}|\{input:([^}]*)\})|\{env:([A-Za-z_][A-Za-z0-9_]*)\}`)

// compiledOnce returns a function that compiles an expression when it is needed: most commands use no
// servers.
func compiledOnce(expression string) func() *regexp.Regexp {
	return sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(expression) })
}

// expansion replaces the variables in the settings of a server.
type expansion struct {
	base    string   // the folder of the project
	secrets []string // values that messages must not show
	unset   []string // variables that are not set
	asked   []string // inputs that an editor would ask for
}

func (x *expansion) hide(v string) {
	if len(v) >= 6 { // shorter values would hide words by chance
		x.secrets = append(x.secrets, v, url.QueryEscape(v), url.PathEscape(v))
	}
}

func (x *expansion) fill(text string) string { return variable().ReplaceAllStringFunc(text, x.valueOf) }

// valueOf returns the value of one variable as it is written in a text.
func (x *expansion) valueOf(word string) string {
	m := variable().FindStringSubmatch(word)
	name := m[1] + m[2] + m[5]
	switch {
	case word == "$$":
		return "$"
	case strings.HasPrefix(word, "${input:"):
		x.asked = append(x.asked, m[4])
		return ""
	case name == "workspaceFolder":
		return x.base
	case name == "userHome":
		home, _ := os.UserHomeDir()
		return home
	}
	v, ok := os.LookupEnv(name)
	if byDefault := strings.Contains(word, ":-"); byDefault && v == "" {
		return m[3]
	} else if !ok {
		x.unset = append(x.unset, name)
	}
	if !slices.Contains(passed, name) { // every server gets those
		x.hide(v)
	}
	return v
}

// fillAll fills values that are secret.
func (x *expansion) fillAll(from map[string]string) map[string]string {
	to := make(map[string]string, len(from))
	for k, v := range from {
		to[k] = x.fill(v)
		x.hide(to[k])
	}
	return to
}

// addEnvFile adds the variables of a file to those that are set.
func (x *expansion) addEnvFile(env map[string]string, path string) error {
	more, err := readEnvFile(path, x.base)
	for name, v := range more {
		if _, set := env[name]; !set {
			env[name] = v
			x.hide(v)
		}
	}
	return err
}

// problem returns an error for what has no value.
func (x *expansion) problem() error {
	switch {
	case len(x.asked) > 0:
		slices.Sort(x.asked)
		return fmt.Errorf("its settings refer to inputs that an editor would ask for: %s; write the value, or $NAME for an environment variable", strings.Join(slices.Compact(x.asked), ", "))
	case len(x.unset) > 0:
		slices.Sort(x.unset)
		return fmt.Errorf("its settings refer to variables that are not set: %s", strings.Join(slices.Compact(x.unset), ", "))
	}
	return nil
}

// expand checks the settings of a server and replaces the variables in them. base is the folder for
// relative paths. The secrets are values that messages must not show.
func (c ServerConfig) expand(base string) (out ServerConfig, secrets []string, err error) {
	if err := c.check(); err != nil {
		return c, nil, err
	}
	x := &expansion{base: base}
	out = c
	out.Args = make([]string, len(c.Args))
	for i, arg := range c.Args {
		out.Args[i] = x.fill(arg)
	}
	out.Command, out.URL, out.HTTPURL = x.fill(c.Command), x.fill(c.URL), x.fill(c.HTTPURL)
	out.Env, out.Headers = x.fillAll(c.Env), x.fillAll(c.Headers)
	out.OAuth.ClientID, out.OAuth.ClientSecret = x.fill(c.OAuth.ClientID), x.fill(c.OAuth.ClientSecret)
	x.hide(out.OAuth.ClientSecret)
	if out.Dir = x.fill(c.Dir); !filepath.IsAbs(out.Dir) {
		out.Dir = filepath.Join(base, out.Dir)
	}
	if out.EnvFile = x.fill(c.EnvFile); out.EnvFile != "" {
		if err := x.addEnvFile(out.Env, out.EnvFile); err != nil {
			return out, x.secrets, err
		}
	}
	switch {
	case out.URL != "" && isStreamable(out.Type):
		out.URL, out.HTTPURL = "", out.URL
	case isAnyURL(out.Type):
		out.Type = ""
	}
	secrets = slices.DeleteFunc(x.secrets, func(s string) bool { // messages say which program was not found, and where
		return filepath.IsAbs(s) && (strings.HasPrefix(out.Command, s) || strings.HasPrefix(out.Dir, s))
	})
	return out, secrets, x.problem()
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
	if err := servername.Check(c.Name); err != nil {
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
	case c.Type == "", c.Command != "" && isProgram(c.Type), c.Command == "" && isStreamable(c.Type), c.URL != "" && isSSE(c.Type), c.Command == "" && isAnyURL(c.Type):
		return nil
	}
	return fmt.Errorf("its type %q does not fit its settings; the types are %s with command, and %s and %s with url", c.Type, TypeProgram, TypeHTTP, TypeSSE)
}

// isStreamable reports whether a type means streamable HTTP, isSSE server-sent events, isAnyURL one of both and isProgram a
// program, in one of the spellings that programs use.
func isStreamable(kind string) bool { return isType(kind, TypeHTTP, "streamablehttp") }
func isSSE(kind string) bool        { return isType(kind, TypeSSE) }
func isAnyURL(kind string) bool     { return isType(kind, "remote") }
func isProgram(kind string) bool    { return isType(kind, TypeProgram, "local") }

// isType reports whether a type is one of these words, whatever its case and what is between its words.
func isType(kind string, words ...string) bool {
	return slices.Contains(words, strings.ToLower(strings.NewReplacer("-", "", "_", "", " ", "").Replace(kind)))
}
