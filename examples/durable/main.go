// Durable is a pipeline of three steps in Go that survives its program: kill it while it runs and start it again with the
// same folder, and the run continues behind the last step that ended.
//
//	go run ./examples/durable /tmp/orders
package main

import (
	"context"
	"fmt"
	"log"
	"os"
	"time"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/history/sqlite"
)

type Order struct{ Item string }
type Shelf struct{ Item, Place string }
type Parcel struct{ Label string }

func reserve(_ context.Context, o Order) (Shelf, error) {
	fmt.Println("reserving", o.Item)
	return Shelf{o.Item, "B7"}, nil
}

func charge(_ context.Context, o Order) (int, error) {
	fmt.Println("charging", o.Item)
	work()
	return 250, nil
}

func ship(_ context.Context, p Parcel) (Parcel, error) { return p, nil }

// work takes a while.
var work = func() { time.Sleep(5 * time.Second) }

func run(ctx context.Context, dir string) error {
	g := flowrun.NewGraph("order")
	order := flowrun.Input[Order](g)
	shelf := flowrun.AddStep(g, "reserve", order, reserve)
	cents := flowrun.AddStep(g, "charge", order, charge, flowrun.After(shelf), flowrun.Retry(3, time.Second), flowrun.Idempotent())
	label := flowrun.Combine(shelf, cents, func(s Shelf, cents int) Parcel {
		return Parcel{fmt.Sprintf("%s from %s, paid %d", s.Item, s.Place, cents)}
	})
	parcel := flowrun.AddStep(g, "ship", label, ship)
	plan, err := g.Compile()
	if err != nil {
		return err
	}
	store, err := sqlite.Open(ctx, dir)
	if err != nil {
		return err
	}
	defer store.Close()
	engine := flowrun.New(flowrun.Config{Store: store, StateDir: dir})
	results, err := flowrun.ResumeOpen(ctx, engine, store, plan) // of a program that was killed
	if err == nil && len(results) == 0 {
		results = make([]*flowrun.Result, 1)
		results[0], err = engine.Run(ctx, plan, map[string]any{"Item": "tea"})
	}
	if err != nil {
		return err
	}
	for _, res := range results {
		sent, err := parcel.Of(res)
		if err != nil {
			return err
		}
		fmt.Println("sent", sent.Label)
	}
	return nil
}

func main() {
	flowrun.HelperMain()
	if len(os.Args) != 2 {
		log.Fatal("usage: durable FOLDER")
	}
	if err := run(context.Background(), os.Args[1]); err != nil {
		log.Fatal(err)
	}
}
