package main

import (
	"context"
	"fmt"
	"net/http"
	"net/http/httptest"
	"os"
	"os/exec"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"

	"github.com/flowrun/flowrun"
	"github.com/flowrun/flowrun/internal/test/sizetest"
)

func TestMain(m *testing.M) {
	flowrun.HelperMain()
	m.Run()
}

// TestServer asks for many reports at once. All are right, and the pool is never used by more than two of their steps.
func TestServer(t *testing.T) {
	if _, err := exec.LookPath("bash"); err != nil {
		t.Skip(err)
	}
	dir := t.TempDir()
	counting := fmt.Sprintf(`bash: mkdir %[1]s/$FLOWRUN_RUN && ls %[1]s | wc -l >>%[1]s.log && sleep 0.02 && rmdir %[1]s/$FLOWRUN_RUN && echo "{CUSTOMER}" | wc -c`, dir)
	definition := strings.Replace(report, `bash: echo "{CUSTOMER}" | wc -c`, counting, 1)
	if definition == report {
		t.Fatal("the step is another one")
	}
	handler, err := newHandler(definition)
	if err != nil {
		t.Fatal(err)
	}
	ask := func(ctx context.Context, customer string) *httptest.ResponseRecorder {
		w := httptest.NewRecorder()
		handler.ServeHTTP(w, httptest.NewRequest(http.MethodGet, "/?customer="+customer, nil).WithContext(ctx))
		return w
	}
	var all sync.WaitGroup
	for i := range sizetest.Of(20, 100, 1000) {
		all.Go(func() {
			customer := strings.Repeat("x", i%40+1)
			if w, want := ask(t.Context(), customer), fmt.Sprintf("%s has ordered %d times\n", customer, len(customer)+1); w.Code != 200 || w.Body.String() != want {
				t.Errorf("%d: %q, want %q", w.Code, w.Body, want)
			}
		})
	}
	all.Wait()
	text, err := os.ReadFile(dir + ".log")
	if err != nil {
		t.Fatal(err)
	}
	os.Remove(dir + ".log")
	most := 0
	for _, word := range strings.Fields(string(text)) {
		n, _ := strconv.Atoi(word)
		most = max(most, n)
	}
	if most != 2 {
		t.Errorf("%d steps used the database at once, want 2", most)
	}
	gone, leave := context.WithCancel(t.Context())
	leave()
	if w := ask(gone, "Ada"); w.Code != http.StatusInternalServerError || !strings.Contains(w.Body.String(), "cancelled") {
		t.Errorf("%d %s", w.Code, w.Body)
	}
	if left, _ := filepath.Glob(dir + "/*"); len(left) > 0 {
		t.Error(left)
	}
}
