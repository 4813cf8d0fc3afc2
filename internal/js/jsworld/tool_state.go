package jsworld

import (
	"bytes"
	"encoding/json"
	"time"

	"github.com/dop251/goja"
)

// A tool that is stopped cleans up in a new world: an async function that was interrupted leaves
// goja unable to continue other ones. The new world gets the members of the tool that are data.

// stateLimit is how long reading the members may take; getters of the tool may run for it.
const stateLimit = 100 * time.Millisecond

// toolState returns the members of the stopped tool that can be written as JSON, as an object.
func (w *World) toolState(onOverdue func()) json.RawMessage {
	w.loop.revive()
	clock := NewClock(stateLimit, func() { w.loop.abort(Failed(KindTimeout, "reading the tool took too long")) }, onOverdue)
	defer clock.Pause()
	state := bytes.NewBufferString("{")
	for _, name := range w.stoppedTool.Keys() {
		if raw := w.member(name); raw != nil {
			if state.Len() > 1 {
				state.WriteByte(',')
			}
			key, _ := json.Marshal(name) // cannot fail: a string
			state.Write(append(append(key, ':'), raw...))
		}
	}
	state.WriteByte('}')
	return state.Bytes()
}

// member returns a member of the stopped tool as JSON, or nil if it is a function, or not data.
func (w *World) member(name string) (raw json.RawMessage) {
	defer func() {
		if recover() != nil { // reading was interrupted
			raw = nil
		}
	}()
	w.vm.Try(func() {
		v := w.stoppedTool.Get(name)
		if _, function := goja.AssertFunction(v); !function && name != "api" {
			raw, _ = toJSON(w.vm, v, name)
		}
	})
	return raw
}
