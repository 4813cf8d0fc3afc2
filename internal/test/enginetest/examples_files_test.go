package enginetest

import (
	"bytes"
	"compress/gzip"
	"fmt"
	"image"
	"image/color"
	"image/png"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"github.com/flowrun/flowrun/dag"
	"github.com/flowrun/flowrun/internal/test/needtest"
)

// archivesIn are the backups in a folder, each listed with tar.
func archivesIn(t *testing.T, dir string) (list []string) {
	t.Helper()
	for _, name := range filesIn(t, dir) {
		out, err := exec.Command("tar", "-tf", filepath.Join(dir, name)).Output()
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		list = append(list, string(out))
	}
	return list
}

// TestBackupExample looks into the archive, at what is left out and kept, and at where
// it goes when the target cannot be written.
func TestBackupExample(t *testing.T) {
	needtest.Programs(t, "tar", "xz", "gzip")
	t.Parallel()
	dir := folder(t, map[string]string{"data/a b.txt": "a", "data/sub/c": "c", "data/node_modules/big": "no", "blocked": "a file, not a folder"})

	t.Run("keeps the newest", func(t *testing.T) {
		for _, old := range []string{"backup-20200101T000000.tar.gz", "backup-20200102T000000.tar.gz"} {
			if err := os.MkdirAll(filepath.Join(dir, "to"), 0o755); err != nil {
				t.Fatal(err)
			}
			path := filepath.Join(dir, "to", old)
			if err := os.WriteFile(path, nil, 0o600); err != nil {
				t.Fatal(err)
			}
			when, _ := time.Parse("20060102", old[7:15])
			os.Chtimes(path, when, when)
		}
		res := runExample(t, "backup", dir, map[string]any{"SOURCE": "data", "TARGET": "to", "KEEP": 2})
		exampleEnded(t, res, dag.Succeeded, `^4 entries packed; kept: 2 in to\n$`)
		list := filesIn(t, filepath.Join(dir, "to"))
		if list[0] != "backup-20200102T000000.tar.gz" {
			t.Errorf("the wrong ones were kept: %v", list)
		}
		if err := os.Remove(filepath.Join(dir, "to", list[0])); err != nil {
			t.Fatal(err)
		}
		if in := archivesIn(t, filepath.Join(dir, "to")); !strings.Contains(in[0], "./a b.txt\n") || strings.Contains(in[0], "big") {
			t.Errorf("in the archive:\n%s", in)
		}
	})
	t.Run("falls back", func(t *testing.T) {
		res := runExample(t, "backup", dir, map[string]any{"SOURCE": "data", "TARGET": "blocked/to", "SPARE": "spare"})
		exampleEnded(t, res, dag.Succeeded, `kept: 1 in spare`)
		if s := exampleStep(t, res, "store"); s.Attempts != 3 || !s.Fallback {
			t.Errorf("store: %d tries, fallback %v", s.Attempts, s.Fallback)
		}
		if n := len(archivesIn(t, filepath.Join(dir, "spare"))); n != 1 {
			t.Errorf("%d archives in spare", n)
		}
	})
	t.Run("nowhere to go", func(t *testing.T) {
		res := runExample(t, "backup", dir, map[string]any{"SOURCE": "data", "TARGET": "blocked/to", "SPARE": "blocked/too"})
		exampleEnded(t, res, dag.Failed, ``)
	})
}

// TestTidyExample removes what is old, and that only where it is asked to.
func TestTidyExample(t *testing.T) {
	t.Parallel()
	files := map[string]string{
		"logs/new.log": "n", "logs/old.log": "o", "logs/it's\nan old.log": "o", "logs/old.txt": "t", "logs/gone/deep/old.log": "o",
	}
	age := func(dir string) {
		for name := range files {
			if strings.Contains(name, "old") {
				when := time.Now().Add(-40 * 24 * time.Hour)
				os.Chtimes(filepath.Join(dir, name), when, when)
			}
		}
	}
	dir := folder(t, files)
	age(dir)
	res := runExample(t, "tidy", dir, map[string]any{"FOLDER": "./logs//", "PATTERN": "*.log"})
	exampleEnded(t, res, dag.Succeeded, `(?s)\./gone/deep/old\.log\n.*3 files would be removed;`)
	if n := len(filesIn(t, filepath.Join(dir, "logs"))); n != 5 {
		t.Fatalf("%d entries after a dry run, want 5", n)
	}

	res = runExample(t, "tidy", dir, map[string]any{"FOLDER": "logs", "PATTERN": "*.log", "DRY_RUN": false})
	exampleEnded(t, res, dag.Succeeded, `^3 files removed\n$`)
	if left := filesIn(t, filepath.Join(dir, "logs")); !slices.Equal(left, []string{"gone", "new.log", "old.txt"}) {
		t.Errorf("left: %v", left)
	}
	for _, no := range []string{"/", dir} { // dir is the home folder here
		res = runExample(t, "tidy", dir, map[string]any{"FOLDER": no, "DRY_RUN": false, "DAYS": 100000})
		exampleEnded(t, res, dag.Failed, ``)
		if s := exampleStep(t, res, "find"); !strings.Contains(s.Error, "cannot tidy") {
			t.Errorf("%s: %s", no, s.Error)
		}
	}
}

// TestConvertTextExample converts a batch in which one file cannot be converted.
func TestConvertTextExample(t *testing.T) {
	needtest.Programs(t, "iconv")
	t.Parallel()
	dir := folder(t, map[string]string{"in/gr\u00fc\u00dfe.txt": "caf\xe9 \x80 5\n", "in/sub/b.txt": "plain\n", "in/broken.txt": "no \x81 such thing\n", "in/picture.png": "\x81"})
	res := runExample(t, "convert-text", dir, map[string]any{"FOLDER": "in", "OUT": "out"})
	exampleEnded(t, res, dag.Succeeded, "^2 of 3 files converted\nnot converted: broken.txt\n$")
	if got := textOf(t, filepath.Join(dir, "out/gr\u00fc\u00dfe.txt")); got != "café € 5\n" {
		t.Errorf("converted to %q", got)
	}
	if left := filesIn(t, filepath.Join(dir, "out")); !slices.Equal(left, []string{"gr\u00fc\u00dfe.txt", "sub"}) {
		t.Errorf("in out: %q", left)
	}

	res = runExample(t, "convert-text", folder(t, map[string]string{"in/broken.txt": "\x81"}), map[string]any{"FOLDER": "in", "OUT": "out"})
	exampleEnded(t, res, dag.Failed, ``)
}

// TestResizeImagesExample makes smaller copies of real pictures, with one among them
// that is none.
func TestResizeImagesExample(t *testing.T) {
	imageMagick(t)
	t.Parallel()
	dir := folder(t, map[string]string{
		"in/big.png": testPicture(t, 900, 300), "in/album one/tall.PNG": testPicture(t, 100, 400), "in/small.png": testPicture(t, 40, 30), "in/notes.txt": "x",
	})
	params := map[string]any{"FOLDER": "in", "OUT": "out", "WIDTH": 200}
	exampleEnded(t, runExample(t, "resize-images", dir, params), dag.Succeeded, `^3 of 3 pictures are in out\n$`)
	for name, want := range map[string]image.Point{"big.png": {200, 67}, "album one/tall.PNG": {50, 200}, "small.png": {40, 30}} {
		c, err := png.DecodeConfig(strings.NewReader(textOf(t, filepath.Join(dir, "out", name))))
		if err != nil || c.Width != want.X || c.Height != want.Y {
			t.Errorf("%s is %d x %d, want %v, %v", name, c.Width, c.Height, want, err)
		}
	}

	if err := os.WriteFile(filepath.Join(dir, "in/broken.png"), []byte("not a picture"), 0o600); err != nil {
		t.Fatal(err)
	}
	exampleEnded(t, runExample(t, "resize-images", dir, params), dag.Failed, "^3 of 4 pictures are in out\nnot read: broken.png\n$")
}

func testPicture(t *testing.T, w, h int) string {
	t.Helper()
	m := image.NewRGBA(image.Rect(0, 0, w, h))
	for x := range w {
		for y := range h {
			m.Set(x, y, color.RGBA{uint8(x), uint8(y), 90, 255})
		}
	}
	var b bytes.Buffer
	if err := png.Encode(&b, m); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// imageMagick skips where there is no ImageMagick: version 7 has magick, 6 convert.
func imageMagick(t *testing.T) {
	t.Helper()
	for _, program := range []string{"magick", "convert"} {
		if out, err := exec.Command(program, "-version").Output(); err == nil && bytes.Contains(out, []byte("ImageMagick")) {
			return
		}
	}
	needtest.Programs(t, "magick")
}

// TestLogReportExample sums up some thousand lines whose numbers are known.
func TestLogReportExample(t *testing.T) {
	t.Parallel()
	var log, packed bytes.Buffer
	line := func(w *bytes.Buffer, client string, hour int, path string, status int) {
		fmt.Fprintf(w, "%s - - [03/Mar/2025:%02d:00:00 +0000] \"GET %s HTTP/1.1\" %d 1000 \"-\" \"agent (x; y)\"\n", client, hour, path, status)
	}
	for i := range 4000 {
		line(&log, fmt.Sprintf("192.0.2.%d", i%200), 10, fmt.Sprintf("/page?n=%d", i), 200)
	}
	for range 900 {
		line(&log, "198.51.100.7", 23, "/cart", 404)
	}
	z := gzip.NewWriter(&packed)
	var old bytes.Buffer
	for range 100 {
		line(&old, "2001:db8::1", 3, "/pay", 503)
	}
	z.Write(old.Bytes())
	z.Close()
	dir := folder(t, map[string]string{"access.log": log.String(), "old log.gz": packed.String()})

	params := map[string]any{"LOGS": []any{"access.log", "old log.gz"}, "TOP": 2}
	want := `5000 requests, 5.0 MB, 2.00 % server errors

Answers:
   4000 2xx
    900 4xx
    100 5xx

Busiest pages:
   4000 /page
    900 /cart

Busiest clients:
    900 198.51.100.7
    100 2001:db8::1

Busiest hours:
   4000 10:00
    900 23:00
    100 03:00
`
	res := runExample(t, "log-report", dir, params)
	exampleEnded(t, res, dag.Succeeded, `5000 requests`)
	if res.Output != want {
		t.Errorf("got:\n%s\nwant:\n%s", res.Output, want)
	}
	params["MAX_ERRORS"] = 1.5
	res = runExample(t, "log-report", dir, params)
	exampleEnded(t, res, dag.Failed, `5000 requests`)
	if s := exampleStep(t, res, "judge"); !strings.Contains(s.Error, "2.00 % of the requests failed, more than the 1.5 %") {
		t.Error(s.Error)
	}
	res = runExample(t, "log-report", dir, map[string]any{"LOGS": []any{"access.log", "missing.log"}})
	exampleEnded(t, res, dag.Failed, ``)
}

// TestDumpExample dumps a real sqlite3 database, restores it, rotates old dumps away,
// and keeps them when a dump broke off. pg_dump and mysqldump are stand-ins.
func TestDumpExample(t *testing.T) {
	needtest.Programs(t, "sqlite3", "gzip")
	t.Parallel()
	dir := folder(t, map[string]string{
		"bin/pg_dump":   "#!/bin/sh\necho \"$@\" >pg.args\necho 'CREATE TABLE t();'\n[ \"$PGPASSWORD\" != right-one ] || echo '-- PostgreSQL database dump complete'\n",
		"bin/mysqldump": "#!/bin/sh\necho \"$@\" >my.args\necho '-- Dump completed on 2025-03-03'\n",
	})
	if out, err := exec.Command("sqlite3", filepath.Join(dir, "my app.db"), "CREATE TABLE t(x); INSERT INTO t VALUES('it''s'),('here');").CombinedOutput(); err != nil {
		t.Fatalf("%v: %s", err, out)
	}
	to := filepath.Join(dir, "dumps")
	if err := os.Mkdir(to, 0o755); err != nil {
		t.Fatal(err)
	}
	for _, old := range []string{"my app.db-20200101T000000.sql.gz", "my app.db-20200102T000000.sql.gz", "other.db-20200101T000000.sql.gz"} {
		if err := os.WriteFile(filepath.Join(to, old), nil, 0o600); err != nil {
			t.Fatal(err)
		}
	}
	params := map[string]any{"DATABASE": "my app.db", "TARGET": "dumps", "KEEP": 2}
	exampleEnded(t, runExample(t, "db-dump", dir, params), dag.Succeeded, `^my app\.db-2\S+\.sql\.gz: \d+ bytes; kept: 2\n$`)
	list := filesIn(t, to)
	if len(list) != 3 || list[0] != "my app.db-20200102T000000.sql.gz" || list[2] != "other.db-20200101T000000.sql.gz" {
		t.Fatalf("kept: %q", list)
	}
	dump := filepath.Join(to, list[1])
	if i, err := os.Stat(dump); err != nil || i.Mode().Perm() != 0o600 {
		t.Errorf("%v, %v: a dump is for its owner only", i.Mode(), err)
	}
	restored, err := exec.Command("sh", "-c", `gzip -dc "$1" | sqlite3 "$2" && sqlite3 "$2" 'SELECT group_concat(x) FROM t'`, "sh", dump, filepath.Join(dir, "back.db")).CombinedOutput()
	if err != nil || string(restored) != "it's,here\n" {
		t.Errorf("restored: %s, %v", restored, err)
	}

	for _, c := range []struct {
		engine, password string
		status           dag.Status
	}{{"postgres", "right-one", dag.Succeeded}, {"postgres", "broken-off", dag.Failed}, {"mysql", "none", dag.Succeeded}} {
		before := filesIn(t, to)
		res := runExample(t, "db-dump", dir, map[string]any{"ENGINE": c.engine, "DATABASE": c.engine + "-shop", "TARGET": "dumps", "KEEP": 1},
			"PATH="+filepath.Join(dir, "bin")+":"+os.Getenv("PATH"), "PGPASSWORD="+c.password)
		exampleEnded(t, res, c.status, ``)
		if got := len(filesIn(t, to)) - len(before); (got == 1) != (c.status == dag.Succeeded) {
			t.Errorf("%s: %d dumps more", c.engine, got)
		}
	}
	if args := textOf(t, filepath.Join(dir, "pg.args")); args != "--no-password --dbname=postgres-shop\n" {
		t.Error("pg_dump", args)
	}
	if args := textOf(t, filepath.Join(dir, "my.args")); args != "--single-transaction --routines -- mysql-shop\n" {
		t.Error("mysqldump", args)
	}
	res := runExample(t, "db-dump", dir, map[string]any{"DATABASE": "missing.db", "TARGET": "dumps"})
	exampleEnded(t, res, dag.Failed, ``)
	if _, err := os.Stat(filepath.Join(dir, "missing.db")); err == nil {
		t.Error("a database was made of a name that was not there")
	}
}

// TestPackageExample looks into what is kept, and at a folder without a version.
func TestPackageExample(t *testing.T) {
	needtest.Programs(t, "tar", "gzip", "sha256sum")
	t.Parallel()
	dir := folder(t, map[string]string{"app/CHANGELOG.md": "# Changes\n\n## 1.2.0\n- Faster.\n\n## 1.1.0\n- Older.\n", "app/main": "program", "empty/CHANGELOG.md": "nothing\n"})
	for range 2 { // again over the files of the first run
		res := runExample(t, "package", dir, map[string]any{"FOLDER": "app"})
		exampleEnded(t, res, dag.Succeeded, `^# Release 1\.2\.0\n- Faster\.\n\nSize: [0-9]+ bytes\nSHA-256: [0-9a-f]{64}\n$`)
		var names []string
		for _, a := range res.Artifacts() {
			names = append(names, a.Step+"/"+a.Name)
		}
		if want := []string{"archive/archive", "checksum/SHA256SUMS", "notes/NOTES"}; !slices.Equal(names, want) {
			t.Errorf("kept %q", names)
		}
	}
	exampleEnded(t, runExample(t, "package", dir, map[string]any{"FOLDER": "empty"}), dag.Failed, "")
}
