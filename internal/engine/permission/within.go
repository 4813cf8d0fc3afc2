package permission

import (
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Within returns the permissions that both lists grant. A tool that an enforced tool uses has these:
// it gets nothing that the outer tool does not have.
func (g Grants) Within(outer Grants) Grants {
	list := Grants{}
	add := func(p string) {
		if p != "" && !slices.Contains(list, p) {
			list = append(list, p)
		}
	}
	for _, p := range g {
		for _, o := range outer {
			add(common(p, o))
		}
	}
	return list
}

// common returns the permission that is in both permissions, "" for none.
func common(p, o string) string {
	kind, rest, _ := strings.Cut(p, ":")
	outerKind, outerRest, _ := strings.Cut(o, ":")
	switch {
	case p == o:
		return p
	case kind != outerKind:
		return ""
	case kind == "filesystem":
		return commonFiles(rest, outerRest)
	case kind == "network":
		return commonHost(p, o)
	case kind+":" == toolPrefix:
		if match, _ := path.Match(outerRest, rest); match {
			return p
		}
		if match, _ := path.Match(rest, outerRest); match {
			return o
		}
	}
	return ""
}

// commonFiles returns what two permissions for files share: the inner path, to read if one of them is to write.
func commonFiles(rest, outerRest string) string {
	verb, file, _ := strings.Cut(rest, ":")
	outerVerb, outerFile, _ := strings.Cut(outerRest, ":")
	switch {
	case verb == "write" && outerVerb == "read":
		return commonFiles("read:"+file, outerRest)
	case verb == "read" && outerVerb == "write":
		return commonFiles(rest, "read:"+outerFile)
	case verb != outerVerb:
	case isBelow(outerFile, file):
		return "filesystem:" + verb + ":" + file
	case isBelow(file, outerFile):
		return "filesystem:" + verb + ":" + outerFile
	}
	return ""
}

func isBelow(granted, file string) bool {
	_, ok := pathBelow(granted, filepath.Clean(file))
	return ok && filepath.IsAbs(file)
}

// commonHost returns the narrower of two permissions for the network.
func commonHost(p, o string) string {
	for _, pair := range [][2]string{{p, o}, {o, p}} {
		narrow, wide := strings.SplitN(pair[0], ":", 3), strings.SplitN(pair[1], ":", 3)
		switch {
		case len(wide) == 1:
			return pair[0]
		case len(narrow) == 1 || narrow[1] != wide[1]:
		case len(wide) == 2 || wide[2] == "":
			return pair[0]
		case len(narrow) == 3:
			host, port := splitTarget(narrow[2])
			if host != "" && (Grants{pair[1]}).allowsHost(wide[1], host, port) {
				return pair[0]
			}
		}
	}
	return ""
}

// Files returns the paths that the permissions let programs read, write and execute. What may be written may be read:
// few programs change what they cannot see. Paths that are not known are left out.
func (g Grants) Files() (read, write, execute []string) {
	for _, p := range g {
		for prefix, list := range map[string]*[]string{ReadPrefix: &read, writePrefix: &write, ExecutePrefix: &execute} {
			if file, ok := strings.CutPrefix(p, prefix); ok && filepath.IsAbs(file) {
				*list = append(*list, filepath.Clean(file))
			}
		}
	}
	return append(read, write...), write, execute
}

// Variables returns the names of the environment variables that the permissions name.
func (g Grants) Variables() (names []string) {
	for _, p := range g {
		if name, ok := strings.CutPrefix(p, EnvironmentPrefix); ok {
			names = append(names, name)
		}
	}
	return names
}

// Hosts returns the permissions for the network.
func (g Grants) Hosts() (list Grants) {
	for _, p := range g {
		if p == "network" || strings.HasPrefix(p, "network:") {
			list = append(list, p)
		}
	}
	return list
}

// AllHosts reports whether the permissions allow the whole network.
func (g Grants) AllHosts() bool {
	return slices.Contains(g, "network") || slices.Contains(g, "network:")
}

// LocalServices reports whether the permissions allow everything that listens on this machine, Unix
// sockets included.
func (g Grants) LocalServices() bool {
	return g.AllHosts() || slices.Contains(g, "network:local") || slices.Contains(g, "network:local:")
}
