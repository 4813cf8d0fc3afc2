package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"os/exec"
)

// signatureNamespace is what a signature is for. A signature that the same key made for something else, such
// as a commit, is not valid for a release.
const signatureNamespace = "flowrun-release"

// sign signs a file with an SSH key: the private one, or the public one if an agent has the private one. The
// signature is beside the file, with .sig added to its name. Without a key there is none.
func sign(w io.Writer, key, file string) error {
	signature := file + ".sig"
	if err := os.Remove(signature); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	if key == "" {
		_, err := fmt.Fprintf(w, "%s is unsigned: no key was given\n", file)
		return err
	}
	if _, err := exec.Command("ssh-keygen", "-q", "-Y", "sign", "-f", key, "-n", signatureNamespace, file).Output(); err != nil {
		return fmt.Errorf("cannot sign %s with the key %s: %w", file, key, withStderr(err))
	}
	_, err := fmt.Fprintf(w, "%s is signed: %s\n", file, signature)
	return err
}
