// Package keptstate keeps the values that steps set for later runs of their tool.
//
// A step writes values into the file in $FLOWRUN_STATE. [Step] checks them, and puts them into the result of the step as
// changes. [Collect] makes the changes of a graph or a loop from those of its parts. The event that ends the run carries
// the changes to the Store, which keeps them in the transaction that records the event (history.NextState). [Journal]
// turns the refusal of a Store into a failed run. [Lost] finds the values of a tool whose file has moved.
package keptstate
