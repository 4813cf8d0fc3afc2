// Package merge makes one value of two that runs set for the same key of a tool's state.
//
// # The model
//
// Runs of a tool can overlap, and each sets values when it ends. A key says how its values become
// one: the later one, the largest, the smallest, or a list of all. So no run has to wait for
// another, and no value is lost.
package merge

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strconv"

	"github.com/flowrun/flowrun/internal/lang/value"
)

// How two values of a key become one.
const (
	Last   = "last"   // the later one
	Max    = "max"    // the larger number, or the text that sorts later
	Min    = "min"    // the smaller number, or the text that sorts earlier
	Append = "append" // a list of the elements of both
)

// Values returns the value that two values of a key become, the later one last. An earlier
// value that does not exist is nil.
func Values(how string, old, v json.RawMessage) (json.RawMessage, error) {
	if len(old) == 0 {
		return v, nil
	}
	switch how {
	case Max, Min:
		order, err := compare(old, v)
		if order == 0 || (order > 0) == (how == Max) {
			return old, err
		}
	case Append:
		var list, more []json.RawMessage
		if json.Unmarshal(old, &list) != nil || json.Unmarshal(v, &more) != nil {
			return nil, fmt.Errorf("merge: append needs lists, but found %s and %s", short(old), short(v))
		}
		return json.Marshal(append(list, more...))
	}
	return v, nil
}

// compare orders two numbers, or two texts.
func compare(a, b json.RawMessage) (int, error) {
	var x, y string
	if json.Unmarshal(a, &x) == nil && json.Unmarshal(b, &y) == nil {
		return bytes.Compare([]byte(x), []byte(y)), nil
	}
	i, errI := strconv.ParseInt(string(a), 10, 64)
	j, errJ := strconv.ParseInt(string(b), 10, 64)
	if errI == nil && errJ == nil {
		return sign(i > j, i < j), nil
	}
	f, errF := strconv.ParseFloat(string(a), 64)
	g, errG := strconv.ParseFloat(string(b), 64)
	if errF != nil || errG != nil {
		return 0, fmt.Errorf("merge: max and min need two numbers or two texts, but found %s and %s", short(a), short(b))
	}
	return sign(f > g, f < g), nil
}

func sign(more, less bool) int {
	switch {
	case more:
		return 1
	case less:
		return -1
	}
	return 0
}

// short returns the beginning of a value for a message.
func short(v json.RawMessage) string {
	const most = 40 // bytes
	if len(v) > most {
		return value.UpTo(most, string(v)) + "..."
	}
	return string(v)
}
