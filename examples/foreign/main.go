// Foreign is a server that runs definitions of others. Each is run in a folder of its own, with what the server grants and
// nothing else.
//
//	go run ./examples/foreign localhost:8000 &
//	curl --data-binary @hello.yaml localhost:8000
package main

import (
	"context"
	"fmt"
	"io"
	"log"
	"net/http"
	"os"
	"time"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/tool"
)

// price is a tool that definitions can use. It runs in the server.
func price(_ context.Context, in struct{ Item string }) (int, error) { return 100 * len(in.Item), nil }

func newEngine() (*flowrun.Engine, error) {
	priceTool, err := flowrun.TypedTool("price", "The price of an item in cents", price)
	if err != nil {
		return nil, err
	}
	return flowrun.New(flowrun.Config{Parallel: 4, Foreign: &flowrun.Foreign{
		Permissions: []string{"filesystem:write:.", "tool:price"},
		Tools:       []*tool.Definition{priceTool.Definition()},
		Limits:      tool.Resources{MaxMemory: 500 << 20, MaxOutput: 1 << 20},
		Timeout:     time.Minute,
	}}), nil
}

// serve runs the definition in the body of a request, and writes the result as JSON.
func serve(engine *flowrun.Engine, w http.ResponseWriter, r *http.Request) error {
	text, err := io.ReadAll(http.MaxBytesReader(w, r.Body, 100<<10))
	if err != nil {
		return err
	}
	plan, err := engine.CompileForeign("order.yaml", text)
	if err != nil {
		return err
	}
	dir, err := os.MkdirTemp("", "order-")
	if err != nil {
		return err
	}
	defer os.RemoveAll(dir)
	res, err := engine.Run(r.Context(), plan, nil, flowrun.WithRunEnv(flowrun.RunEnv{Workspace: dir}))
	if err != nil {
		return err
	}
	return res.WriteJSON(w)
}

func main() {
	flowrun.HelperMain() // first: steps start in a second process of this program
	if len(os.Args) != 2 {
		log.Fatal("usage: foreign HOST:PORT")
	}
	engine, err := newEngine()
	if err != nil {
		log.Fatal(err)
	}
	log.Fatal(http.ListenAndServe(os.Args[1], http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if err := serve(engine, w, r); err != nil {
			http.Error(w, fmt.Sprint(err), http.StatusBadRequest)
		}
	})))
}
