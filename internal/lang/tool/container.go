package tool

import (
	"fmt"
	"path"
	"strings"
	"time"

	"gopkg.in/yaml.v3"

	"github.com/flowrun/flowrun/internal/lang/diagnostic"
	"github.com/flowrun/flowrun/internal/lang/keytable"
	"github.com/flowrun/flowrun/internal/lang/value"
)

// Container is the container in which the command of a step runs, and the services beside it.
type Container struct {
	Pos        Pos
	Image      string
	Pull       string // "" = missing
	Mounts     []Mount
	User       string // "" = the user of flowrun
	Network    bool   // it has the network of the container program
	Entrypoint bool   // the words of run are arguments of the image's own entry point
	Services   []*Service
}

// Mount is a file or folder of this machine in a container.
type Mount struct {
	Pos      Pos
	Source   Text   // a relative path starts at the workspace
	Target   string // an absolute path in the container
	Writable bool
}

// Service is a container that runs beside the container of a step.
type Service struct {
	Name      string // the host name by which the step reaches it
	Pos       Pos
	Image     string
	Arguments []Text  // of the image's entry point; none = those of the image
	Env       []Entry // its variables; it inherits none
	User      string  // "" = the user of the image
	Health    *Health // nil = it is ready as soon as it runs
}

// Health says when a service is ready.
type Health struct {
	Pos      Pos
	Command  Text // a program in the container and its arguments; it succeeds once the service is ready
	Interval time.Duration
	Timeout  time.Duration // of one check
	Retries  int           // failed checks before the step fails
}

// containerField returns the field container. Its objects are made when it is: most programs never ask for them.
func containerField() keytable.Field {
	mount := keytable.NewObject("a mount", "A file or folder of this machine in the container.", func() []keytable.Field {
		return []keytable.Field{
			keytable.Text("source", "", "Path on this machine. A relative path starts at the workspace. It must exist when the step starts.", func(m *Mount, v Text) { m.Source = v }).AsRequired(),
			keytable.String("target", "", "Absolute path in the container.", func(m *Mount, v string) { m.Target = v }).AsRequired(),
			keytable.Boolean("writable", "", "Whether the container can change it.", func(m *Mount, v bool) { m.Writable = v }).WithDefault("false"),
		}
	}).WithCheck(checkMount)
	health := keytable.NewObject("health", "When a service is ready: a command in its container that succeeds then.", func() []keytable.Field {
		return []keytable.Field{
			keytable.Text("command", "", "Program and arguments, split into words as in run. It runs in the container of the service.", func(h *Health, v Text) { h.Command = v }).AsRequired(),
			keytable.Duration("interval", "", "Time between two checks.", func(h *Health, v time.Duration) { h.Interval = v }).WithDefault("1000"),
			keytable.Duration("timeout", "", "Time limit of one check.", func(h *Health, v time.Duration) { h.Timeout = v }).WithDefault("5000"),
			keytable.Integer("retries", "", 0, 100_000, "How often the check may fail before the step fails.", func(h *Health, v int) { h.Retries = v }).WithDefault("30"),
		}
	}).WithCheck(func(d *keytable.Decoder, into any, n *yaml.Node, content []*yaml.Node) {
		into.(*Health).Pos = d.Pos(n)
		require(d, n, content, "the health check", "command")
	})
	service := keytable.NewObject("a service", "A container that runs beside that of the step, such as a database.", func() []keytable.Field {
		return []keytable.Field{
			containerImage("Image of the service.", func(s *Service) *string { return &s.Image }),
			keytable.Texts("arguments", "", "Arguments of the image's entry point, one word each. Default: those of the image.", func(s *Service, v []Text) { s.Arguments = v }),
			keytable.TextMap("env", "", "Variables of the service, by name.", func(s *Service, v []Entry) { s.Env = v }),
			containerUser("User of its processes, by name or number. Default: that of the image.", func(s *Service) *string { return &s.User }),
			keytable.Nested("health", "", health, "When the service is ready. Default: as soon as it runs.", func(s *Service) *Health {
				s.Health = &Health{Interval: time.Second, Timeout: 5 * time.Second, Retries: 30}
				return s.Health
			}),
		}
	}).WithCheck(checkService)
	container := keytable.NewObject("container", "The container in which the command of the step runs, and the services beside it.", func() []keytable.Field {
		return []keytable.Field{
			containerImage("Image, preferably with a digest: NAME@sha256:....", func(c *Container) *string { return &c.Image }),
			keytable.Choice("pull", "", []string{"missing", "always", "never"}, "When images are downloaded.", func(c *Container, v string) { c.Pull = v }).WithDefault("missing"),
			keytable.List("mounts", "", mount, "Files and folders of this machine, beside the workspace and the working directory.", func(c *Container, p Pos) *Mount { return add(&c.Mounts, Mount{Pos: p}) }),
			containerUser("User of the command, by name or number. Default: the user of flowrun.", func(c *Container) *string { return &c.User }),
			keytable.Boolean("network", "", "Whether the container and its services have the network of the container program.", func(c *Container, v bool) { c.Network = v }).WithDefault("false"),
			keytable.Boolean("entrypoint", "", "Whether the words of run are arguments of the image's own entry point.", func(c *Container, v bool) { c.Entrypoint = v }).WithDefault("false"),
			keytable.Named("services", "", service, "Containers beside that of the step, by host name. They are started and ready before the command, and are removed after it.", func(c *Container, name string, p Pos) *Service {
				return addPointer(&c.Services, &Service{Name: name, Pos: p})
			}),
		}
	}).WithCheck(checkContainer)
	return keytable.Nested("container", "", container, "Runs the command of the step in a container, with services beside it. See containers.md.", func(s *Step) *Container {
		s.Container = &Container{}
		return s.Container
	})
}

// containerImage returns the field for an image. Names that begin with a dash are rejected: the program that starts the
// container would read them as an option.
func containerImage[T any](doc string, to func(*T) *string) keytable.Field {
	return checked(keytable.String("image", "", doc, func(t *T, v string) { *to(t) = v }).AsRequired(), func(v string) bool { return imageName().MatchString(v) },
		"bad-image", "invalid image name", `write it as registries have it: "docker.io/library/debian:12", or with a whole digest after @sha256:; placeholders are not possible`)
}

// validUser reports whether container programs accept a user: NAME or ID, and perhaps a group after a colon.
func validUser(user string) bool {
	name, group, both := strings.Cut(user, ":")
	valid := func(v string) bool {
		return v != "" && strings.Trim(v, letters+digits+"_.-") == "" && v[0] != '-' && v[0] != '.'
	}
	return valid(name) && (valid(group) || !both)
}

func containerUser[T any](doc string, to func(*T) *string) keytable.Field {
	return checked(keytable.String("user", "", doc, func(t *T, v string) { *to(t) = v }), validUser,
		"bad-name", "invalid user", "write a name or a number, and perhaps a group after a colon: postgres, '999' or '999:999'")
}

// checked wraps a field for a text so that other values are reported.
func checked(f keytable.Field, valid func(string) bool, code, what, hint string) keytable.Field {
	read := f.Set
	f.Set = func(d *keytable.Decoder, into any, n *yaml.Node) {
		if v := keytable.Deref(n); v.Kind == yaml.ScalarNode && v.ShortTag() != "!!null" && !valid(v.Value) {
			d.Fail(n, code, fmt.Sprintf("%s %s", what, diagnostic.Quote(v.Value)), hint)
			return
		}
		read(d, into, n)
	}
	return f
}

// require reports keys that are missing.
func require(d *keytable.Decoder, n *yaml.Node, content []*yaml.Node, what string, keys ...string) {
	for _, key := range keys {
		if keytable.KeyOf(content, key) == nil {
			d.Fail(n, "no-body", what+" has no "+key, "add '"+key+":'")
		}
	}
}

func checkMount(d *keytable.Decoder, into any, n *yaml.Node, content []*yaml.Node) {
	require(d, n, content, "the mount", "source", "target")
	m, at := into.(*Mount), keytable.ValueOf(content, "target")
	switch {
	case at == nil || m.Target == "":
	case !path.IsAbs(m.Target) || path.Clean(m.Target) != m.Target || strings.ContainsAny(m.Target, "\x00\n\r"):
		d.Fail(at, "bad-path", "invalid path in a container "+diagnostic.Quote(m.Target), "write an absolute path without . and .., such as /data")
	case m.Target == "/", within(m.Target, "/proc"), within(m.Target, "/sys"), within(m.Target, "/dev"), m.Target == "/etc/hosts":
		d.Fail(at, "bad-path", "a mount cannot replace "+m.Target+" of a container", "mount it elsewhere, such as at /data")
	}
}

func within(file, folder string) bool { return file == folder || strings.HasPrefix(file, folder+"/") }

const (
	lowerCase = "abcdefghijklmnopqrstuvwxyz"
	letters   = lowerCase + "ABCDEFGHIJKLMNOPQRSTUVWXYZ"
	digits    = "0123456789"
)

// validHost reports whether a text can be the name of a service.
func validHost(name string) bool {
	return name != "" && len(name) <= 63 && name != "localhost" && strings.Trim(name, lowerCase+digits+"-") == "" && name[0] != '-' && name[len(name)-1] != '-'
}

func checkService(d *keytable.Decoder, into any, n *yaml.Node, content []*yaml.Node) {
	s := into.(*Service)
	require(d, n, content, "the service", "image")
	if !validHost(s.Name) {
		d.Report(Diagnostic{Code: "bad-name", Severity: Error, Pos: s.Pos, Len: len([]rune(s.Name)), Path: d.Path.String(), Message: "invalid name of a service: " + diagnostic.Quote(s.Name),
			Hint: "it is a host name: use lower-case letters, digits and '-', and not localhost"})
	}
	checkVariables(d, s.Env)
}

// checkVariables checks the names of variables of a service.
func checkVariables(d *keytable.Decoder, list []Entry) {
	for _, e := range list {
		if !value.IsVariableName(e.Key) || strings.HasPrefix(e.Key, "FLOWRUN_") {
			d.Report(Diagnostic{Code: "bad-name", Severity: Error, Pos: e.Pos, Len: len([]rune(e.Key)), Path: d.Path.String() + ".env", Message: "invalid name of a variable: " + diagnostic.Quote(e.Key),
				Hint: "use letters, digits and '_'; names that begin with FLOWRUN_ are flowrun's own"})
		}
	}
}

func checkContainer(d *keytable.Decoder, into any, n *yaml.Node, content []*yaml.Node) {
	c := into.(*Container)
	require(d, n, content, "the container", "image")
	c.Pos = d.Pos(n)
	seen := map[string]bool{}
	for _, m := range c.Mounts {
		if seen[m.Target] && m.Target != "" {
			d.Report(Diagnostic{Code: "duplicate-key", Severity: Error, Pos: m.Pos, Path: d.Path.String() + ".mounts", Message: "two mounts have the target " + m.Target, Hint: "give one of them another target"})
		}
		seen[m.Target] = true
	}
}

// checkStepContainer checks what the container of a step demands of its other keys.
func checkStepContainer(d *keytable.Decoder, s *Step, content []*yaml.Node) {
	if s.Container == nil {
		return
	}
	key := keytable.KeyOf(content, "container")
	switch s.Kind() {
	case "", Bash, Sh, Python, Run, Script, PerOS:
	case Cmd, Pwsh:
		d.FailKey(key, "no-effect", "container has no effect on a step with "+string(s.Kind())+": containers are those of Linux", "use sh, bash or run")
	default:
		d.FailKey(key, "no-effect", "container has no effect on a step without a command", "remove it, or use run, sh, bash or python")
	}
	if s.Container.Entrypoint && s.Kind() != Run && s.Body != nil {
		d.FailKey(key, "no-effect", "entrypoint needs run: only its words can be arguments of the image's entry point", "write run: ARGUMENTS, or remove entrypoint")
	}
	if at := keytable.KeyOf(content, "detach"); at != nil && s.Detach {
		d.FailKey(at, "no-effect", "detach has no effect on a step in a container: everything in it ends with the step", "remove detach, or container")
	}
}
