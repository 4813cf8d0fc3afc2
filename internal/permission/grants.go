package permission

import (
	"fmt"
	"net/netip"
	"net/url"
	"path"
	"path/filepath"
	"slices"
	"strings"

	"github.com/flowrun/flowrun/internal/codeenv"
	"github.com/flowrun/flowrun/internal/privatenet"
)

// Grants are what the scripts of a call may do: its permissions, resolved.
type Grants []string

// The permissions about files, up to the path, and about variables, up to the name.
const (
	readPrefix        = "filesystem:read:"
	ExecutePrefix     = "filesystem:execute:"
	environmentPrefix = "environment:"
)

// toolPrefix begins the permissions to call tools: tool:NAME, with * ? and [a-z] as in the
// names of files.
const toolPrefix = "tool:"

// CallTool says whether a script may call a tool by that name, or by that path.
func (g Grants) CallTool(name string) error {
	for _, p := range g {
		pattern, ok := strings.CutPrefix(p, toolPrefix)
		if match, _ := path.Match(pattern, name); ok && (match || pattern == name) {
			return nil
		}
	}
	return fmt.Errorf("PermissionDenied: Permission not granted: %s%s; add it to the permissions that getMetadata returns: permissions: ['%[1]s%[2]s']", toolPrefix, name)
}

// DeniedError says that a script may not do something.
type DeniedError struct{ Permission, why string }

func (e *DeniedError) Error() string {
	return fmt.Sprintf("PermissionDenied: Permission not granted: %s%s; add it to security.required-permissions of the tool, or in a .tool.js to the permissions that getMetadata returns", e.Permission, e.why)
}

// Network says whether the address may be asked: nil, or why not. Only the host and port
// count; who asks for them and what for does not matter.
func (g Grants) Network(u *url.URL) error {
	if u.Scheme != "http" && u.Scheme != "https" {
		return fmt.Errorf("cannot fetch %s: the URL must begin with http:// or https://", u.Redacted())
	}
	host, port := privatenet.NormalizeHost(u.Hostname()), u.Port()
	if host == "" {
		return fmt.Errorf("cannot fetch a URL without a host")
	}
	if port == "" {
		port = map[string]string{"http": "80", "https": "443"}[u.Scheme]
	}
	verb := "external"
	if privatenet.IsPrivateHost(host) {
		verb = "local"
	}
	if g.allowsHost(verb, host, port) {
		return nil
	}
	return &DeniedError{Permission: "network:" + verb + ":" + host}
}

// Address says whether a host may be reached where it leads: a name of the outside world
// must not lead into the machine or the network around it, whoever answers for it.
func (g Grants) Address(host, port string, to netip.Addr) error {
	host = privatenet.NormalizeHost(host)
	if !privatenet.IsPrivateAddress(to) || g.allowsHost("local", host, port) {
		return nil
	}
	return &DeniedError{Permission: "network:local:" + host, why: fmt.Sprintf(" (the name resolves to %s)", to)}
}

// allowsHost says whether a host and port are granted. A permission without a port is for every
// one, without a host for all of its kind; network alone is for all.
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

// splitTarget is the host and port of a permission: api.example.com, [::1]:8080, ::1.
func splitTarget(target string) (host, port string) {
	if _, err := netip.ParseAddr(target); err == nil {
		return privatenet.NormalizeHost(target), ""
	}
	u, err := url.Parse("//" + target)
	if err != nil || u.Host != target { // with a path or a login it is for nobody
		return "", ""
	}
	return privatenet.NormalizeHost(u.Hostname()), u.Port()
}

// Readable is the granted file or folder that an absolute path leads into, and the rest of
// the way from there.
func (g Grants) Readable(path string) (root, rest string, err error) {
	if strings.ContainsRune(path, 0) {
		return "", "", fmt.Errorf("EINVAL: the path contains a NUL byte")
	}
	real := RealPath(path)
	for _, p := range g {
		if root, ok := strings.CutPrefix(p, readPrefix); ok {
			if rest, ok := pathBelow(root, real); ok {
				return root, rest, nil
			}
		}
	}
	return "", "", &DeniedError{Permission: readPrefix + path}
}

// Execute says whether a program may be started, which is an absolute path: a permission
// names it, or the folder above. written is how the script called it.
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

// Environment says whether a script may give a program the variable. Those that make
// programs run code would let it start anything under the name of the one it may start.
func (g Grants) Environment(name string) error {
	switch {
	case !IsVariableName(name):
		return fmt.Errorf("%q cannot be the name of an environment variable", name)
	case !codeenv.RunsCode(name) || slices.Contains(g, environmentPrefix+name):
		return nil
	}
	return &DeniedError{Permission: environmentPrefix + name, why: " (it makes programs run code)"}
}

// pathBelow is the way from a granted file or folder to a path that leads into it.
func pathBelow(granted, real string) (rest string, ok bool) {
	if !filepath.IsAbs(granted) {
		return "", false
	}
	rest, err := filepath.Rel(granted, real)
	return rest, err == nil && filepath.IsLocal(rest)
}
