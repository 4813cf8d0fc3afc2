package dag

import "strings"

// A path is made of parts: the names of steps, a slash between what holds and what
// is held, [KEY] after a loop for one of its items, #N for a later try:
//
//	setup#2/test[linux/amd64]#3/build
//
// Names hold none of these signs; keys may hold all but brackets.

// cut takes the first part off a path: a name, or [KEY] with its brackets. The
// number of its try and the slash after it are dropped. Of what is no path it takes
// nothing and leaves nothing.
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

// Split is the name of the outermost step of a path, the key of the item where it is
// a loop, and what is left inside it; tries are dropped. setup#2/clone is setup and
// clone, test[3]/build is test, 3 and build. All are empty for what is no path.
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

// WithoutAttempts is a path without the numbers of tries (setup#2/clone is
// setup/clone): the step itself, however often something around it was tried.
func (id ID) WithoutAttempts() ID {
	if !strings.Contains(string(id), "#") {
		return id
	}
	return id.rebuild(true)
}

// WithoutKeys is a path without tries and without the keys of loops: the step as
// it is written, test/build for test[3]/build.
func (id ID) WithoutKeys() ID {
	if !strings.ContainsAny(string(id), "#[") {
		return id
	}
	return id.rebuild(false)
}

// Names says whether a path, which may leave out the keys of loops around the step,
// names that of other: test/build names test[3]/build. The last part must be written in
// full: test is the loop, and not test[3]. Neither has the numbers of tries.
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

// rebuild writes a path anew of its parts; what is no path stays as it is.
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

// Ancestors are the paths around a path, outermost first, as they stand in events:
// without the number of a try at the end. For test[3]/build they are test and
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

// Base is the last part of a path, a loop's name included for one of its items:
// test[3] for ci/test[3].
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

// Depth is how many steps are around a step; an item of a loop is one deeper than
// the loop.
func (id ID) Depth() int { return len(id.Ancestors()) }
