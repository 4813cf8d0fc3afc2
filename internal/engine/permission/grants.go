package permission

import (
	"fmt"
	"net/netip"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/lang/value"
	"github.com/flowrun/flowrun/internal/os/codeenv"
	"github.com/flowrun/flowrun/internal/os/privatenet"
)

// Grants are the resolved permissions of a call. They say what its scripts may do.
type Grants []string

// The prefixes of permissions for files, which a path follows, and for variables, which a name follows.
const (
	ReadPrefix        = "filesystem:read:"
	writePrefix       = "filesystem:write:"
	ExecutePrefix     = "filesystem:execute:"
	EnvironmentPrefix = "environment:"
)

// toolPrefix is the prefix of permissions to call tools: tool:NAME, with * ? and [a-z] as in file names.
const toolPrefix = "tool:"

// modelPermission is the permission to ask a language model.
const modelPermission = "model"

// AskModel returns an error if a script may not ask a language model.
func (g Grants) AskModel() error {
	if slices.Contains(g, modelPermission) {
		return nil
	}
	return &DeniedError{Permission: modelPermission}
}

// CallTool returns an error if a script may not call a tool of that name or path.
func (g Grants) CallTool(name string) error {
	for _, p := range g {
		pattern, ok := strings.CutPrefix(p, toolPrefix)
		if match, _ := path.Match(pattern, name); ok && (match || pattern == name) {
			return nil
		}
	}
	return fmt.Errorf("PermissionDenied: Permission not granted: %s%s; add it to the permissions that getMetadata returns: permissions: ['%[1]s%[2]s']", toolPrefix, name)
}

// DeniedError reports that a script has no permission for something.
type DeniedError struct{ Permission, why string }

// Missing returns the permission, and why it is needed if that is not obvious.
func (e *DeniedError) Missing() string { return e.Permission + e.why }

func (e *DeniedError) Error() string {
	return fmt.Sprintf("PermissionDenied: Permission not granted: %s%s; add it to security.required-permissions of the tool, or in a .tool.js to the permissions that getMetadata returns", e.Permission, e.why)
}

// Network returns an error if a script may not connect to the host and port of an address. Method, path and
// caller make no difference.
func (g Grants) Network(u *url.URL) error {
	if u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("cannot fetch %s: the URL must begin with http:// or https://", u.Redacted())
	}
	host, port := privatenet.NormalizeHost(u.Hostname()), u.Port()
	if host == "" {
		return fmt.Errorf("cannot fetch a URL without a host")
	}
	if err := privatenet.CheckHost(host); err != nil {
		return err
	}
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	verb := verbOf(host)
	if g.allowsHost(verb, host, port) {
		return nil
	}
	return &DeniedError{Permission: "network:" + verb + ":" + host}
}

// Address returns an error if a script may not connect to a host at the address to which its name resolves.
// The name of an external host must not lead to this machine or its private network, no matter who
// controls that name.
func (g Grants) Address(host, port string, to netip.Addr) error {
	host = privatenet.NormalizeHost(host)
	if !privatenet.IsPrivateAddress(to) || g.allowsHost("local", host, port) {
		return nil
	}
	return &DeniedError{Permission: "network:local:" + host, why: fmt.Sprintf(" (the name resolves to %s)", to)}
}

// allowsHost reports whether a host and port are granted. A permission without a port is for every port, one
// without a host for all hosts of its kind. network alone allows everything.
func (g Grants) allowsHost(verb, host, port string) bool {
	return slices.ContainsFunc(g, func(p string) bool {
		kind, rest, _ := strings.Cut(p, ":")
		granted, target, _ := strings.Cut(rest, ":")
		switch {
		case kind != "network":
			return false
		case rest == "":
			return true
		case granted != verb:
			return false
		}
		h, only := splitTarget(target)
		return target == "" || h == host && (only == "" || only == port)
	})
}

// splitTarget returns the host and port of a permission: api.example.com, [::1]:8080, ::1. Both are "" if it
// is invalid.
func splitTarget(target string) (host, port string) {
	if _, err := netip.ParseAddr(target); err == nil {
		return privatenet.NormalizeHost(target), ""
	}
	u, err := url.Parse("//" + target)
	if err != nil || u.Host != target { // a target with a path or a login grants nothing
		return "", ""
	}
	return privatenet.NormalizeHost(u.Hostname()), u.Port()
}

// Readable returns the granted file or folder that contains an absolute path, and the path from there. It
// fails if no permission covers the path.
func (g Grants) Readable(path string) (root, rest string, err error) {
	read, _, _ := g.Files()
	return covering(read, path, ReadPrefix)
}

// Writable is Readable for files that are written.
func (g Grants) Writable(path string) (root, rest string, err error) {
	_, write, _ := g.Files()
	return covering(write, path, writePrefix)
}

func covering(granted []string, path, prefix string) (root, rest string, err error) {
	if strings.ContainsRune(path, 0) {
		return "", "", fmt.Errorf("EINVAL: the path contains a NUL byte")
	}
	real := RealPath(path)
	for _, root := range granted {
		if rest, ok := pathBelow(root, real); ok {
			return root, rest, nil
		}
	}
	return "", "", &DeniedError{Permission: prefix + path}
}

// Execute returns an error if a program, which is an absolute path, may not be started. A permission has to
// name the program or a folder above it. written is what the script wrote; it is used in the error.
func (g Grants) Execute(program, written string) error {
	for _, p := range g {
		granted, ok := strings.CutPrefix(p, ExecutePrefix)
		if !ok || !filepath.IsAbs(granted) {
			continue
		}
		if granted == program {
			return nil
		}
		if _, ok := pathBelow(granted, RealPath(program)); ok {
			return nil
		}
	}
	return &DeniedError{Permission: ExecutePrefix + written}
}

// Environment returns an error if a script may not set the variable for a program. Variables that make
// programs run code need a permission: otherwise a script could run anything through the one program
// that it may start.
func (g Grants) Environment(name string) error {
	switch {
	case !value.IsVariableName(name):
		return fmt.Errorf("%q cannot be the name of an environment variable", name)
	case !codeenv.RunsCode(name) || slices.Contains(g, EnvironmentPrefix+name):
		return nil
	}
	return &DeniedError{Permission: EnvironmentPrefix + name, why: " (it makes programs run code)"}
}

// pathBelow returns the path from a granted file or folder to real. ok is false if real is not in it.
func pathBelow(granted, real string) (rest string, ok bool) {
	if !filepath.IsAbs(granted) {
		return "", false
	}
	rest, err := filepath.Rel(granted, real)
	return rest, err == nil && filepath.IsLocal(rest)
}
