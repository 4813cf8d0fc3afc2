// Package sampling gets answers of a language model from the command of the setting
// tools.samplingCommand.
//
// The protocol MCP calls it sampling when a program asks the model of the program that started it.
package sampling

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"path/filepath"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/flowrun/flowrun/internal/engine"
	"github.com/flowrun/flowrun/internal/lang/expr"
	"github.com/flowrun/flowrun/internal/os/procid"
	"github.com/flowrun/flowrun/internal/os/program"
)

// Sampler gets answers of a language model. It must be safe for concurrent use.
type Sampler interface {
	// Sample returns the answer to a request, which is a value that can be written as JSON.
	Sample(ctx context.Context, request any) (Answer, error)
}

// Answer is what a model wrote.
type Answer struct {
	Text  string
	Model string // the name of the model or of the program that asked it
}

// Limits of one request.
const (
	Limit      = 5 * time.Minute
	maxRequest = 4 << 20 // bytes
	maxAnswer  = 1 << 20 // bytes
)

// Command is a Sampler that starts a program for each request, without a shell. The program gets the
// request as JSON on its standard input, and prints the answer.
type Command struct {
	Line string // the program with its arguments, quoted as in a shell
	Dir  string // working directory
}

// Sample implements Sampler.
func (c Command) Sample(ctx context.Context, request any) (Answer, error) {
	argv, err := expr.Words(c.Line)
	if err != nil {
		return Answer{}, fmt.Errorf("tools.samplingCommand: %w", err)
	}
	input, err := json.Marshal(request)
	switch {
	case err != nil:
		return Answer{}, fmt.Errorf("the request cannot be written as JSON: %w", err)
	case len(input) > maxRequest:
		return Answer{}, fmt.Errorf("the request is larger than %d MiB", maxRequest>>20)
	}
	printed, err := program.Call{Argv: argv, Dir: c.Dir, Input: append(input, '\n'), Step: "@sampling",
		Domain: procid.DomainOf(engine.DefaultStateDir()), Limit: Limit, MaxOutput: maxAnswer}.Run(ctx)
	if err == nil {
		err = check(printed)
	}
	if err != nil {
		return Answer{}, fmt.Errorf("tools.samplingCommand (%q): %w", argv[0], err)
	}
	return Answer{Text: strings.TrimRight(string(printed), "\r\n"), Model: filepath.Base(argv[0])}, nil
}

// check returns an error if what the program printed is not an answer.
func check(printed []byte) error {
	switch {
	case strings.TrimSpace(string(printed)) == "":
		return errors.New("it printed no answer")
	case !utf8.Valid(printed):
		return errors.New("its answer is not UTF-8 text")
	}
	return nil
}
