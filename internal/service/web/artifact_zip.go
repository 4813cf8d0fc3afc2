package web

import (
	"archive/zip"
	"io"
	"io/fs"
	"mime"
	"net/http"
	"net/url"
	"path"

	"github.com/flowrun/flowrun/internal/engine/artifact"
	"github.com/flowrun/flowrun/internal/engine/runresult"
)

// writeAll writes a zip archive of all artifacts of a run, each in a folder of its step and name. The
// path of a step is one name there, because the keys of items can be any text. All are open before the
// response begins, so that one which is gone is an error and not a broken archive.
func writeAll(w http.ResponseWriter, run string, list []runresult.KeptArtifact) error {
	open := make([]*artifact.Content, 0, len(list))
	defer func() {
		for _, c := range open {
			c.Close()
		}
	}()
	for _, a := range list {
		c, err := openKept(a)
		if err != nil {
			return err
		}
		open = append(open, c)
	}
	return writeZip(w, run, func(z *zip.Writer) error {
		for i, c := range open {
			if err := addFiles(z, url.PathEscape(list[i].Step)+"/"+list[i].Name, c); err != nil {
				return err
			}
		}
		return nil
	})
}

// writeZip writes a zip archive that add fills. If that fails the archive has no directory, so no program takes it for
// complete.
func writeZip(w http.ResponseWriter, name string, add func(*zip.Writer) error) error {
	w.Header().Set("Content-Type", asZip)
	w.Header().Set("Content-Disposition", mime.FormatMediaType("attachment", map[string]string{"filename": name + ".zip"}))
	z := zip.NewWriter(w)
	if err := add(z); err != nil {
		return err
	}
	return z.Close()
}

// addFiles adds the files, folders and links of an artifact to an archive, below a folder.
func addFiles(z *zip.Writer, folder string, c *artifact.Content) error {
	for _, f := range c.Files {
		h := &zip.FileHeader{Name: path.Join(folder, f.Path), Method: zip.Deflate}
		switch {
		case f.Folder:
			h.Name, h.Method = h.Name+"/", zip.Store
			h.SetMode(fs.ModeDir | 0o755)
		case f.Digest == "":
			h.SetMode(fs.ModeSymlink | 0o777)
		case f.Executable:
			h.SetMode(0o755)
		default:
			h.SetMode(0o644)
		}
		if err := addFile(z, h, f, c); err != nil {
			return err
		}
	}
	return nil
}

func addFile(z *zip.Writer, h *zip.FileHeader, f artifact.File, c *artifact.Content) error {
	to, err := z.CreateHeader(h)
	if err != nil || f.Folder {
		return err
	}
	if f.Digest == "" {
		_, err := io.WriteString(to, f.Target)
		return err
	}
	return c.Verify(f.Path, to)
}
