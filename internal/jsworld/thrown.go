package jsworld

import (
	"errors"
	"fmt"
	"regexp"
	"strconv"
	"sync"

	"github.com/dop251/goja"

	"github.com/flowrun/flowrun/internal/jscheck"
)

// fail is what an error of goja means.
func (p *Program) fail(vm *goja.Runtime, err error) *Failure {
	var stopped *goja.InterruptedError
	var deep *goja.StackOverflowError
	var thrown *goja.Exception
	switch {
	case errors.As(err, &stopped):
		return p.stopped(stopped)
	case errors.As(err, &deep):
		f := Failed(KindThrown, "Maximum call stack size exceeded: calls are nested deeper than %d levels", maxDepth)
		f.Name = "RangeError"
		p.place(f, deep.Stack())
		return f
	case errors.As(err, &thrown):
		return p.thrown(vm, thrown.Value(), thrown.Stack())
	}
	return Failed(KindThrown, "%v", err)
}

// stopped is why the script was stopped, with the place where it was.
func (p *Program) stopped(e *goja.InterruptedError) *Failure {
	f := Failed(KindLost, "the script was stopped")
	if why, ok := e.Value().(*Failure); ok {
		f = &Failure{Kind: why.Kind, Name: why.Name, Message: why.Message}
	}
	p.place(f, e.Stack())
	return f
}

// recovered is what a panic means: a script's error on its way through Go, or a mistake
// of the engine, which must not end the process.
func (p *Program) recovered(vm *goja.Runtime, x any) *Failure {
	if err, ok := x.(error); ok {
		var stopped *goja.InterruptedError
		var deep *goja.StackOverflowError
		var thrown *goja.Exception
		if errors.As(err, &stopped) || errors.As(err, &deep) || errors.As(err, &thrown) {
			return p.fail(vm, err)
		}
	}
	return Failed(KindLost, "the JavaScript engine failed: %s", fmt.Sprint(x))
}

// thrown is a value that the script threw, or that a promise was rejected with.
func (p *Program) thrown(vm *goja.Runtime, v goja.Value, stack []goja.StackFrame) (f *Failure) {
	f = Failed(KindThrown, "the script threw a value that cannot be shown")
	vm.Try(func() { p.describe(vm, f, v) }) // what it throws in turn does not matter
	if f.Off == nil && f.Pos == nil {
		p.place(f, stack)
	}
	return f
}

// describe reads the thrown value, which runs code of the script where it has getters.
func (p *Program) describe(vm *goja.Runtime, f *Failure, v goja.Value) {
	o, ok := v.(*goja.Object)
	if !ok {
		f.Message = Shorten(fmt.Sprint(v))
		return
	}
	message := o.Get("message")
	if message == nil || goja.IsUndefined(message) {
		raw, refused := jsonOf(vm, v, "the thrown value")
		if f.Message = Shorten(string(raw)); refused != nil {
			f.Message = Shorten(v.String())
		}
		return
	}
	said := message.String()
	f.Message = Shorten(said)
	if name := o.Get("name"); name != nil && goja.IsString(name) {
		f.Name = Shorten(name.String())
	}
	if stack := o.Get("stack"); stack != nil && goja.IsString(stack) {
		text := stack.String() // which begins with the message
		p.placeIn(f, text[min(len(said), len(text)):])
	}
}

// place gives a failure the place of the innermost call in the author's text.
func (p *Program) place(f *Failure, stack []goja.StackFrame) {
	for _, call := range stack {
		if call.SrcName() == jscheck.ScriptName {
			at := call.Position()
			p.at(f, p.source.OffsetOf(at.Line, at.Column))
			return
		}
	}
}

// placeInStack is a place in the text of an Error's stack.
var placeInStack = sync.OnceValue(func() *regexp.Regexp { return regexp.MustCompile(`\b` + jscheck.ScriptName + `:(\d+):(\d+)\(\d+\)`) })

// placeIn does the same for the stack of an Error as text.
func (p *Program) placeIn(f *Failure, stack string) {
	m := placeInStack().FindStringSubmatch(stack)
	if m == nil {
		return
	}
	line, _ := strconv.Atoi(m[1])
	col, _ := strconv.Atoi(m[2])
	p.at(f, p.source.OffsetOf(line, col))
}
