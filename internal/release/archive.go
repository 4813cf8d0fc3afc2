package main

import (
	"archive/tar"
	"archive/zip"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"time"

	"github.com/flowrun/flowrun/internal/os/atomicfile"
)

// archive packs a folder, under its own name, into a new file: a gzipped tar, or a zip if
// the name ends in .zip. The bytes depend only on names, contents and the date. The file is
// created completely or not at all.
func archive(file, folder string, date time.Time) error {
	return atomicfile.File{Path: file, Mode: 0o644, Exact: true}.Write(func(w *os.File) error {
		switch {
		case strings.HasSuffix(file, ".zip"):
			return packZip(w, folder, date)
		case strings.HasSuffix(file, ".tar.gz"):
			return packTar(w, folder, date)
		}
		return fmt.Errorf("%s: the name of an archive must end in .tar.gz or .zip", file)
	})
}

func packTar(w io.Writer, folder string, date time.Time) error {
	zw, err := gzip.NewWriterLevel(w, gzip.BestCompression)
	if err != nil {
		return err
	}
	tw := tar.NewWriter(zw)
	err = eachFile(folder, func(name string, mode fs.FileMode, content []byte) error {
		h := &tar.Header{Name: name, Mode: int64(mode.Perm()), Size: int64(len(content)), ModTime: date, Typeflag: tar.TypeReg}
		if mode.IsDir() {
			h.Name, h.Typeflag = name+"/", tar.TypeDir
		}
		if err := tw.WriteHeader(h); err != nil {
			return err
		}
		_, err := tw.Write(content)
		return err
	})
	return errors.Join(err, tw.Close(), zw.Close())
}

func packZip(w io.Writer, folder string, date time.Time) error {
	zw := zip.NewWriter(w)
	err := eachFile(folder, func(name string, mode fs.FileMode, content []byte) error {
		h := &zip.FileHeader{Name: name, Modified: date, Method: zip.Deflate}
		if mode.IsDir() {
			h.Name, h.Method = name+"/", zip.Store
		}
		h.SetMode(mode)
		f, err := zw.CreateHeader(h)
		if err != nil || mode.IsDir() {
			return err
		}
		_, err = f.Write(content)
		return err
	})
	return errors.Join(err, zw.Close())
}

// eachFile calls pack for a folder and everything in it, in the order of their names. The
// modes do not come from the disk, where they depend on the umask and the system: the
// program is executable, nothing else is.
func eachFile(folder string, pack func(name string, mode fs.FileMode, content []byte) error) error {
	root := filepath.Base(folder)
	return filepath.WalkDir(folder, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return err
		}
		below, err := filepath.Rel(folder, path)
		if err != nil {
			return err
		}
		name := filepath.ToSlash(filepath.Join(root, below))
		if d.IsDir() {
			return pack(name, fs.ModeDir|0o755, nil)
		}
		if !d.Type().IsRegular() {
			return fmt.Errorf("%s: only files and folders can be packed", path)
		}
		content, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		mode := fs.FileMode(0o644)
		if name := strings.TrimSuffix(d.Name(), ".exe"); name == "flowrun" || name == "flowrun-temporal" {
			mode = 0o755
		}
		return pack(name, mode, content)
	})
}
