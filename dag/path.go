package dag

import "strings"

// A path consists of parts: names of steps, a slash between a step and what is inside it,
// [KEY] after a loop for one of its items, and #N for attempt N from the second on:
//
//	setup#2/test[linux/amd64]#3/build
//
// Names contain none of these characters. Keys may contain all but brackets.

// cut takes the first part off a path: a name, or [KEY] with its brackets. It drops the
// attempt number and the slash that follow. For an invalid path both results are empty.
func (id ID) cut() (part string, rest ID) {
	end := 0
	if strings.HasPrefix(string(id), "[") {
		closing := strings.IndexAny(string(id[1:]), "[]") + 1
		if closing == 0 || id[closing] == '[' {
			return "", ""
		}
		end = closing + 1
	} else if end = strings.IndexAny(string(id), "/[]#"); end < 0 {
		end = len(id)
	}
	part, rest = string(id[:end]), id[end:]
	if attempt, ok := strings.CutPrefix(string(rest), "#"); ok {
		if more := strings.TrimLeft(attempt, "0123456789"); more != attempt {
			rest = ID(more)
		}
	}
	switch {
	case part == "":
	case rest == "", rest[0] == '[':
		return part, rest
	case rest[0] == '/' && len(rest) > 1 && !strings.ContainsRune("/[]#", rune(rest[1])):
		return part, rest[1:]
	}
	return "", ""
}

// Split returns the name of the outermost step of a path, the key of the item if that step
// is a loop, and the rest of the path inside it. Attempt numbers are dropped. setup#2/clone
// gives setup and clone; test[3]/build gives test, 3 and build. All results are empty for
// an invalid path.
func (id ID) Split() (name, key string, rest ID) {
	name, rest = id.cut()
	for strings.HasPrefix(string(rest), "[") {
		var item string
		if item, rest = rest.cut(); item == "" {
			return "", "", ""
		}
		key = item[1 : len(item)-1]
	}
	return name, key, rest
}

// WithoutAttempts returns the path without attempt numbers: setup/clone for setup#2/clone.
// This names the step itself, whatever attempt of an outer step it belongs to.
func (id ID) WithoutAttempts() ID {
	if !strings.Contains(string(id), "#") {
		return id
	}
	return id.rebuild(true)
}

// WithoutKeys returns the path without attempt numbers and without the keys of loops: the
// step as it is in the definition, test/build for test[3]/build.
func (id ID) WithoutKeys() ID {
	if !strings.ContainsAny(string(id), "#[") {
		return id
	}
	return id.rebuild(false)
}

// Names reports whether the path id names the step other. id may leave out the keys of the
// loops around the step: test/build names test[3]/build. The last part must be complete:
// test names the loop, and not test[3]. Neither path may contain attempt numbers.
func (id ID) Names(other ID) bool {
	for {
		want, more := id.cut()
		part, rest := other.cut()
		for strings.HasPrefix(part, "[") && !strings.HasPrefix(want, "[") {
			part, rest = rest.cut()
		}
		switch {
		case part != want || part == "":
			return false
		case rest == "" || more == "":
			return rest == more
		}
		id, other = more, rest
	}
}

// rebuild joins the parts of a path again, without attempt numbers, and without keys unless
// keys is set. An invalid path is returned unchanged.
func (id ID) rebuild(keys bool) ID {
	var b strings.Builder
	for rest := id; rest != ""; {
		var part string
		part, rest = rest.cut()
		isKey := strings.HasPrefix(part, "[")
		switch {
		case part == "":
			return id
		case isKey && !keys:
			continue
		case !isKey && b.Len() > 0:
			b.WriteByte('/')
		}
		b.WriteString(part)
	}
	return ID(b.String())
}

// Ancestors returns the paths of the steps around a step, outermost first, as they are in
// events: without an attempt number at the end. For test[3]/build they are test and
// test[3].
func (id ID) Ancestors() []ID {
	var list []ID
	for rest := id; ; {
		part, more := rest.cut()
		if part == "" || more == "" {
			return list
		}
		list = append(list, id[:len(id)-len(rest)]+ID(part))
		rest = more
	}
}

// Base returns the last part of a path. For an item of a loop that includes the name of the
// loop: test[3] for ci/test[3].
func (id ID) Base() ID {
	for i := len(id); i > 0; {
		switch id[i-1] {
		case ']':
			if i = strings.LastIndexByte(string(id[:i]), '[') + 1; i == 0 {
				return id
			}
			i--
		case '/':
			return id[i:]
		default:
			i--
		}
	}
	return id
}

// last splits a path before its last part: a name, or [KEY].
func (id ID) last() (outer ID, part string) {
	for rest := id; ; {
		p, more := rest.cut()
		if p == "" || more == "" {
			return id[:len(id)-len(rest)], p
		}
		rest = more
	}
}
