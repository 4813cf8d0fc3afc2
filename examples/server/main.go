// Server runs a tool for each request: any number of requests at once, at most six steps of them, and at most two that use
// the database. It keeps no history.
//
//	go run ./examples/server localhost:8000 &
//	curl 'localhost:8000?customer=Ada'
package main

import (
	"context"
	"errors"
	"fmt"
	"log"
	"net/http"
	"os"
	"os/signal"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/history"
	"github.com/flowrun/flowrun/library"
	"github.com/flowrun/flowrun/tool"
)

const report = `
name: report
description: The report of a customer
parameters: {CUSTOMER: {type: string, description: Whose report, required: true}}
steps:
  - name: query
    bash: echo "{CUSTOMER}" | wc -c
    pool: database
  - name: write
    bash: echo "{CUSTOMER} has ordered {query.output} times"
`

func newHandler(definition string) (http.Handler, error) {
	def, err := tool.Decode("report.yaml", []byte(definition))
	if err != nil {
		return nil, err
	}
	plan, err := flowrun.CompileDefinition(library.New(library.Config{}), def)
	if err != nil {
		return nil, err
	}
	engine := flowrun.New(flowrun.Config{Parallel: 6, Pools: map[string]history.Pool{"database": {Slots: 2}}})
	return http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		res, err := engine.Run(r.Context(), plan, map[string]any{"CUSTOMER": r.FormValue("customer")}) // ends if the client leaves
		if err == nil {
			err = res.Err()
		}
		if err != nil {
			http.Error(w, err.Error(), http.StatusInternalServerError)
			return
		}
		fmt.Fprint(w, res.Output)
	}), nil
}

func main() {
	flowrun.HelperMain()
	if len(os.Args) != 2 {
		log.Fatal("usage: server HOST:PORT")
	}
	handler, err := newHandler(report)
	if err != nil {
		log.Fatal(err)
	}
	ctx, stop := signal.NotifyContext(context.Background(), os.Interrupt)
	server := &http.Server{Addr: os.Args[1], Handler: handler}
	over := make(chan error, 1)
	go func() {
		<-ctx.Done()
		over <- server.Shutdown(context.Background()) // waits for the runs
	}()
	if err := server.ListenAndServe(); !errors.Is(err, http.ErrServerClosed) {
		log.Fatal(err)
	}
	stop()
	if err := <-over; err != nil {
		log.Fatal(err)
	}
}
