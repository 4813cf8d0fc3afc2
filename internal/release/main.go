// Command release makes the parts of a release of flowrun besides the programs themselves,
// so that the same source gives the same bytes on every machine. internal/release/release.yaml calls
// it. It knows nothing about flowrun except its name.
//
// A folder becomes an archive (archive.go) with sorted entries, no owners and one date. A
// program becomes a bill of materials (sbom.go) and the licences that must be distributed
// with it (licences.go); both are made from what the linker recorded in the program, not
// from what the module might need. Files become a list of checksums (sums.go), which can be
// signed (sign.go), a document that says what they were built from (provenance.go), and a
// formula with which Homebrew installs them (formula.go).
package main

import (
	"flag"
	"fmt"
	"io"
	"os"
	"strings"
	"time"
)

const usage = `usage:
  release archive [-date SECONDS] ARCHIVE FOLDER     pack FOLDER into ARCHIVE (.tar.gz or .zip)
  release sbom [-date SECONDS] -version V PROGRAM    print the software bill of materials of PROGRAM (SPDX)
  release licences PROGRAM                           print the licences of PROGRAM and its modules
  release provenance -commit C [-parameter NAME=VALUE]... FILE...
                                                     print what FILEs were built from (SLSA provenance)
  release formula -version V ARCHIVE...              print the formula of Homebrew for archives
  release sums FILE...                               print the checksums of files
  release sign [-key KEY] FILE                       write FILE.sig, a signature with an SSH key
  release date -date SECONDS                         print the date (RFC 3339)
`

func main() {
	if err := run(os.Args[1:], os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "release:", err)
		os.Exit(1)
	}
}

func run(args []string, out io.Writer) error {
	if len(args) == 0 {
		return fmt.Errorf("a command is missing\n%s", usage)
	}
	flags := flag.NewFlagSet(args[0], flag.ContinueOnError)
	flags.SetOutput(io.Discard)
	seconds := flags.Int64("date", 0, "the date to record, in seconds since 1970")
	version := flags.String("version", "", "the version of the program")
	commit := flags.String("commit", "", "the commit that was built")
	key := flags.String("key", "", "the file of an SSH key")
	parameters := map[string]string{}
	flags.Func("parameter", "a parameter of the build", func(s string) error {
		name, value, _ := strings.Cut(s, "=")
		parameters[name] = value
		return nil
	})
	if err := flags.Parse(args[1:]); err != nil {
		return fmt.Errorf("%w\n%s", err, usage)
	}
	date := time.Unix(*seconds, 0).UTC()
	rest := flags.Args()
	switch {
	case args[0] == "archive" && len(rest) == 2:
		return archive(rest[0], rest[1], date)
	case args[0] == "sbom" && len(rest) == 1 && *version != "":
		return writeSBOM(out, rest[0], *version, date)
	case args[0] == "licences" && len(rest) == 1:
		return writeLicences(out, rest[0])
	case args[0] == "provenance" && len(rest) > 0 && *commit != "":
		return writeProvenance(out, *commit, parameters, rest)
	case args[0] == "formula" && len(rest) > 0 && *version != "":
		return writeFormula(out, *version, rest)
	case args[0] == "sums" && len(rest) > 0:
		return writeSums(out, rest)
	case args[0] == "sign" && len(rest) == 1:
		return sign(out, *key, rest[0])
	case args[0] == "date" && len(rest) == 0:
		_, err := fmt.Fprintln(out, date.Format(time.RFC3339))
		return err
	}
	return fmt.Errorf("invalid arguments %q\n%s", args, usage)
}
