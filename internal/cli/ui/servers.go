package ui

import (
	"context"
	"fmt"
	"reflect"
	"slices"
	"strings"
	"sync"
	"sync/atomic"
	"time"

	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/lang/tool"
	"github.com/flowrun/flowrun/internal/model/mcpclient"
	"github.com/flowrun/flowrun/internal/model/sampling"
	"github.com/flowrun/flowrun/internal/model/servername"
	"github.com/flowrun/flowrun/internal/service/config"
)

// serversKey is the section of the settings with MCP servers. commandKey is the command of one more,
// with the name unnamedServer.
const (
	serversKey    = "mcpServers"
	commandKey    = "mcp.serverCommand"
	unnamedServer = "mcp"
)

// callTimeout is the default of mcpServers.NAME.timeout.
const callTimeout = 10 * time.Minute

// servers are the MCP servers of the settings. They are connected when one of their tools may be
// needed, and only those of the project if it is trusted.
type servers struct {
	mu     sync.Mutex
	client *mcpclient.Client
	config mcpclient.Config // of client, without its functions
	quiet  bool             // the command prints problems of servers itself
}

// serverClient returns the client of the MCP servers in the settings. EndPrograms closes it.
func (env *Env) serverClient() *mcpclient.Client {
	c, err := env.currentSettings()
	if err != nil || env.Completing { // pressing Tab must not start programs
		c = nil // invalid settings are reported where they are used
	}
	s, config := &env.servers, mcpclient.Config{Servers: ServerConfigs(c), StateDir: engine.DefaultStateDir(), Version: ThisBuild().Version}
	if c != nil {
		config.Workspace = projectDir(c)
	}
	config.Sampler = Sampler(c)
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client != nil && reflect.DeepEqual(config, s.config) {
		return s.client
	}
	if s.client != nil { // the project is trusted now
		s.client.Close()
	}
	s.config = config
	config.Report, config.Ask = env.reportServer, env.ServerQuestions.answer
	s.client = mcpclient.New(config)
	return s.client
}

// ServerQuestions asks a person the questions of MCP servers.
type ServerQuestions struct{ ask atomic.Pointer[serverAsker] }

// serverAsker asks a person the question of a server. The error says that the person cancelled.
type serverAsker func(ctx context.Context, server string, q history.Question) (history.Answer, error)

// AnswerWith sets the function that asks the person, until the function that it returns is called.
func (s *ServerQuestions) AnswerWith(ask serverAsker) (stop func()) {
	s.ask.Store(&ask)
	return func() { s.ask.Store(nil) }
}

// answer answers the question of a server: it is declined if no person can be asked.
func (s *ServerQuestions) answer(ctx context.Context, server string, q history.Question) (history.Answer, error) {
	ask := s.ask.Load()
	if ask == nil {
		return history.Answer{}, nil
	}
	return (*ask)(ctx, server, q)
}

// Sampler returns what answers requests to a language model, nil if the settings have nothing.
func Sampler(c *config.Config) sampling.Sampler {
	if command := c.Word("tools.samplingCommand"); command != "" {
		return sampling.Command{Line: command, Dir: projectDir(c)}
	}
	return nil
}

// reportServer prints a problem of a server.
func (env *Env) reportServer(server, problem string) {
	if !env.inJSON && !env.servers.quiet {
		env.Notef("warning: MCP server %s: %s", server, problem)
	}
}

// QuietServers is for commands that print the problems of servers themselves.
func (env *Env) QuietServers() { env.servers.quiet = true }

// failed returns the servers that could not be connected.
func (s *servers) failed() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client == nil {
		return nil
	}
	return s.client.Failed()
}

// close ends all servers.
func (s *servers) close() {
	s.mu.Lock()
	defer s.mu.Unlock()
	if s.client != nil {
		s.client.Close()
	}
}

// ServerConfigs returns the servers that the settings declare, and neither exclude nor disable.
func ServerConfigs(c *config.Config) []mcpclient.ServerConfig {
	return slices.DeleteFunc(declaredServers(c), func(s mcpclient.ServerConfig) bool { return excluded(c, s.Name) || disabled(c, s.Name) })
}

// disabled reports whether the settings of a server disable it.
func disabled(c *config.Config, server string) bool {
	is := func(key string, value bool) bool {
		set := c.Get(serversKey + "." + server + "." + key)
		return len(set) > 0 && set[0].Value == value
	}
	return is("disabled", true) || is("enabled", false)
}

// declaredServers returns the servers that the settings declare.
func declaredServers(c *config.Config) (list []mcpclient.ServerConfig) {
	dotted := dottedNames(c)
	for _, v := range c.Get(serversKey) {
		keys := strings.SplitN(v.Key, ".", 4)
		if len(keys) < 3 || belongsTo(v, dotted) {
			continue // a server without settings, or with a name that cannot be used
		}
		i := slices.IndexFunc(list, func(s mcpclient.ServerConfig) bool { return s.Name == keys[1] })
		if i < 0 {
			i = len(list)
			list = append(list, mcpclient.ServerConfig{Name: keys[1], Owner: ownerOf(c, v), Timeout: callTimeout, Env: map[string]string{}, Headers: map[string]string{}})
		}
		setServer(&list[i], v, keys[2:])
	}
	return withCommand(c, list)
}

// dottedNames returns the declared names with a dot, which is not valid: the key of a setting would be that of another server.
func dottedNames(c *config.Config) (names []string) {
	for _, s := range c.DeclaredServers() {
		if strings.Contains(s.Name, ".") {
			names = append(names, s.Name)
		}
	}
	return names
}

// belongsTo reports whether a value is part of the settings of one of these servers.
func belongsTo(v config.Value, servers []string) bool {
	return slices.ContainsFunc(servers, func(name string) bool { return strings.HasPrefix(v.Key, serversKey+"."+name+".") })
}

// withCommand adds the server whose command is set without a name.
func withCommand(c *config.Config, list []mcpclient.ServerConfig) []mcpclient.ServerConfig {
	set := c.Get(commandKey)
	if len(set) == 0 || slices.ContainsFunc(list, func(s mcpclient.ServerConfig) bool { return s.Name == unnamedServer }) {
		return list
	}
	argv, err := expr.Words(set[0].Text())
	if err != nil {
		argv = []string{set[0].Text()} // reported as a program that does not exist
	}
	return append(list, mcpclient.ServerConfig{Name: unnamedServer, Owner: ownerOf(c, set[0]), Timeout: callTimeout, Command: argv[0], Args: argv[1:]})
}

// excluded reports whether the settings exclude a server.
func excluded(c *config.Config, server string) bool {
	names := func(key string) (list []string) {
		for _, v := range c.Get(key) {
			list = append(list, servername.Of(v.Text()))
		}
		return list
	}
	allowed := names("mcp.allowed")
	return slices.Contains(names("mcp.excluded"), server) || len(allowed) > 0 && !slices.Contains(allowed, server)
}

// IgnoredServer is a server that is not used.
type IgnoredServer struct {
	Name, Why string
	Unusable  bool // because of its settings; otherwise because other settings say so
}

// IgnoredServers returns the servers of the settings that are not used.
func IgnoredServers(c *config.Config) (list []IgnoredServer) {
	add := func(name, why string) {
		if !slices.ContainsFunc(list, func(s IgnoredServer) bool { return s.Name == name }) {
			list = append(list, IgnoredServer{Name: name, Why: why})
		}
	}
	used := declaredServers(c)
	for _, s := range used {
		switch {
		case excluded(c, s.Name):
			add(s.Name, "mcp.allowed or mcp.excluded in the settings exclude it")
		case disabled(c, s.Name):
			add(s.Name, "its settings disable it")
		}
	}
	dotted := dottedNames(c)
	for _, v := range c.Values {
		keys := strings.SplitN(v.Key, ".", 3)
		switch {
		case !v.Ignored || belongsTo(v, dotted):
		case v.Key == commandKey:
			add(unnamedServer, notTrusted)
		case keys[0] == serversKey && len(keys) == 3:
			add(keys[1], notTrusted)
		}
	}
	return append(list, unusable(c, used, list)...)
}

// unusable returns the declared servers that are in neither list: those of which flowrun can use nothing.
func unusable(c *config.Config, used []mcpclient.ServerConfig, ignored []IgnoredServer) (list []IgnoredServer) {
	for _, s := range c.DeclaredServers() {
		known := slices.ContainsFunc(used, func(u mcpclient.ServerConfig) bool { return u.Name == s.Name }) ||
			slices.ContainsFunc(append(ignored, list...), func(i IgnoredServer) bool { return i.Name == s.Name })
		if !known {
			list = append(list, IgnoredServer{s.Name, whyUnusable(s), true})
		}
	}
	return list
}

// whyUnusable says why flowrun can use nothing of a server.
func whyUnusable(s config.DeclaredServer) string {
	if err := servername.Check(s.Name); err != nil {
		return "its name is not valid: " + err.Error()
	}
	if one := unreadable(s); one != nil {
		return "its settings cannot be read: " + leftOut(*one)
	}
	why := "its settings have none of command, url and httpUrl"
	if len(s.Unknown) > 0 {
		why += "; flowrun does not use " + strings.Join(s.Unknown, ", ")
	}
	return why
}

// unreadable returns the first value without which a server is not used, nil if there is none.
func unreadable(s config.DeclaredServer) *tool.Diagnostic {
	for i, one := range s.LeftOut {
		if one.Severity == tool.Error {
			return &s.LeftOut[i]
		}
	}
	return nil
}

// leftOut returns the key of a value that cannot be read, and why.
func leftOut(one tool.Diagnostic) string {
	if one.Path == "" {
		return one.Message
	}
	return one.Path + ": " + one.Message
}

// ServerNotes returns what to know about the settings of a server that flowrun uses, in sentences without a full stop: what it
// does not use of them, and how they name the server.
func ServerNotes(c *config.Config, name string) (notes []string) {
	for _, s := range c.DeclaredServers() {
		if s.Name != name {
			continue
		}
		if one := unreadable(s); one != nil {
			notes = append(notes, fmt.Sprintf("the settings of %q are not used: %s", s.Written, leftOut(*one)))
			continue
		}
		if s.Written != name {
			notes = append(notes, fmt.Sprintf("its name in the settings is %q", s.Written))
		}
		if keys := s.Unknown; len(keys) > 0 {
			text := "its settings have keys that flowrun does not use: " + strings.Join(keys, ", ")
			if slices.Contains(keys, "alwaysAllow") || slices.Contains(keys, "autoApprove") {
				text += "; calls are approved with approvals.allow, --auto-approve and trust"
			}
			notes = append(notes, text)
		}
		for _, one := range s.LeftOut {
			notes = append(notes, "its settings are used without "+leftOut(one))
		}
	}
	return notes
}

// notTrusted is why the servers of a project are not used.
const notTrusted = "the project is not trusted; to trust it: flowrun trust"

// ownerOf returns the project that sets a value, or "".
func ownerOf(c *config.Config, v config.Value) string {
	if v.Origin.Layer == config.Project {
		return c.Trust.Folder
	}
	return ""
}

// setServer sets one value of a server.
func setServer(s *mcpclient.ServerConfig, v config.Value, keys []string) {
	texts := map[string]*string{"command": &s.Command, "cwd": &s.Dir, "url": &s.URL, "serverUrl": &s.URL, "httpUrl": &s.HTTPURL, "envFile": &s.EnvFile, "type": &s.Type, "description": &s.Description}
	lists := map[string]*[]string{"args": &s.Args, "includeTools": &s.Include, "excludeTools": &s.Exclude}
	maps := map[string]map[string]string{"env": s.Env, "headers": s.Headers}
	switch key := keys[0]; {
	case texts[key] != nil:
		*texts[key] = v.Text()
	case lists[key] != nil:
		*lists[key] = append(*lists[key], v.Text())
	case maps[key] != nil && len(keys) == 2:
		maps[key][keys[1]] = v.Text()
	case key == "oauth" && len(keys) == 2:
		setOAuth(&s.OAuth, v, keys[1])
	case key == "timeout", key == "timeout_ms":
		s.Timeout, _ = v.Value.(time.Duration)
	case key == "trust":
		s.Trust, _ = v.Value.(bool)
	}
}

// setOAuth sets one value of how flowrun signs in to a server.
func setOAuth(o *mcpclient.OAuth, v config.Value, key string) {
	switch key {
	case "clientId":
		o.ClientID = v.Text()
	case "clientSecret":
		o.ClientSecret = v.Text()
	case "issuer":
		o.Issuer = v.Text()
	case "callbackPort":
		port, _ := v.Value.(int64)
		o.CallbackPort = int(port)
	}
}

// serverTools implements library.Provider with the tools of the servers.
type serverTools struct{ env *Env }

func (t serverTools) Find(name string) (def *tool.Definition, err error) {
	t.env.WithServers(func(c *mcpclient.Client) { def, err = c.Find(name) })
	return def, err
}

func (t serverTools) Tools() (list []*tool.Definition) {
	t.env.WithServers(func(c *mcpclient.Client) { list = c.Tools() })
	return list
}

func (t serverTools) Known() []*tool.Definition { return t.env.serverClient().Known() }

// WithServers calls a function that may have to connect servers. A signal ends that.
func (env *Env) WithServers(f func(*mcpclient.Client)) {
	c := env.serverClient()
	env.untilSignal(func(ctx context.Context) {
		stop := context.AfterFunc(ctx, func() { c.Interrupt(context.Cause(ctx)) })
		defer stop()
		f(c)
	})
}
