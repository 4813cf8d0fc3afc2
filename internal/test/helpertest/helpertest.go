// Package helpertest makes the supervisor processes of a test program cheap. A test imports it for that effect alone.
//
// Every run starts the test program again as its supervisor. In TestMain that comes after the initialisation of all
// packages of the test, which takes more time than the rest of a small run. Here it comes after that of the few
// packages that a supervisor consists of, because Go initialises packages in the order of their import paths.
package helpertest

import (
	"os"

	"github.com/flowrun/flowrun/internal/os/supervisor"
)

func init() {
	if os.Args[0] == "flowrun-helper" { // in another process, Main would say that this program can be its own supervisor
		supervisor.Main()
	}
}
