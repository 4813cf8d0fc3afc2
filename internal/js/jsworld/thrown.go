package jsworld

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"sync"

	"github.com/dop251/goja"

	"github.com/flowrun/flowrun/internal/js/jscheck"
)

// failureOf converts an error of goja to a failure.
func (p *Program) failureOf(vm *goja.Runtime, err error) *Failure {
	var stopped *goja.InterruptedError
	var deep *goja.StackOverflowError
	var thrown *goja.Exception
	switch {
	case errors.As(err, &stopped):
		return p.stoppedFailure(stopped)
	case errors.As(err, &deep):
		f := Failed(KindThrown, "Maximum call stack size exceeded: calls are nested deeper than %d levels", maxDepth)
		f.Name = "RangeError"
		p.setStackPosition(f, deep.Stack())
		return f
	case errors.As(err, &thrown):
		return p.thrownFailure(vm, thrown.Value(), thrown.Stack())
	}
	return Failed(KindThrown, "%v", err)
}

// stoppedFailure returns the reason why the script was stopped, with the position at which it was.
func (p *Program) stoppedFailure(e *goja.InterruptedError) *Failure {
	f := Failed(KindLost, "the script was stopped")
	if why, ok := e.Value().(*Failure); ok {
		f = &Failure{Kind: why.Kind, Name: why.Name, Message: why.Message}
	}
	p.setStackPosition(f, e.Stack())
	return f
}

// panicFailure converts a panic to a failure. The panic is an error of the script that passed
// through Go code, or a bug in the JavaScript engine, which must not end the process.
func (p *Program) panicFailure(vm *goja.Runtime, x any) *Failure {
	if err, ok := x.(error); ok {
		var stopped *goja.InterruptedError
		var deep *goja.StackOverflowError
		var thrown *goja.Exception
		if errors.As(err, &stopped) || errors.As(err, &deep) || errors.As(err, &thrown) {
			return p.failureOf(vm, err)
		}
	}
	return Failed(KindLost, "the JavaScript engine failed: %s", fmt.Sprint(x))
}

// thrownFailure returns the failure for a value that the script threw or that a promise was
// rejected with.
func (p *Program) thrownFailure(vm *goja.Runtime, v goja.Value, stack []goja.StackFrame) (f *Failure) {
	f = Failed(KindThrown, "the script threw a value that cannot be shown")
	vm.Try(func() { p.readThrown(vm, f, v) }) // errors of the value's getters are ignored
	if f.Off == nil && f.Pos == nil {
		p.setStackPosition(f, stack)
	}
	return f
}

// readThrown reads the thrown value into f. This runs code of the script if the value has getters.
func (p *Program) readThrown(vm *goja.Runtime, f *Failure, v goja.Value) {
	p.reword(vm, v)
	o, ok := v.(*goja.Object)
	if !ok {
		f.Message = Shorten(fmt.Sprint(v))
		return
	}
	message := o.Get("message")
	if message == nil || goja.IsUndefined(message) {
		raw, refused := toJSON(vm, v, "the thrown value")
		if f.Message = Shorten(string(raw)); refused != nil {
			f.Message = Shorten(v.String())
		}
		return
	}
	messageText := message.String()
	f.Message = Shorten(messageText)
	if name := o.Get("name"); name != nil && goja.IsString(name) {
		f.Name = Shorten(name.String())
	}
	if stack := o.Get("stack"); stack != nil && goja.IsString(stack) {
		text := stack.String() // begins with the message
		p.setStackTextPosition(f, text[min(len(messageText), len(text)):])
	}
}

// setStackPosition sets the position of a failure to the innermost call in the author's text.
func (p *Program) setStackPosition(f *Failure, stack []goja.StackFrame) {
	for _, call := range stack {
		if call.SrcName() == jscheck.ScriptName {
			at := call.Position()
			if p.setPosition(f, p.source.OffsetOf(at.Line, at.Column)) {
				return
			}
		}
	}
}

// stackPosition matches a position in the text of an Error's stack.
var stackPosition = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b` + jscheck.ScriptName + `:(\d+):(\d+)\(\d+\)`) })

// setStackTextPosition sets the position of a failure from the text of an Error's stack.
func (p *Program) setStackTextPosition(f *Failure, stack string) {
	for _, m := range stackPosition().FindAllStringSubmatch(stack, -1) {
		line, _ := strconv.Atoi(m[1])
		col, _ := strconv.Atoi(m[2])
		if p.setPosition(f, p.source.OffsetOf(line, col)) {
			return
		}
	}
}
