package web

import (
	"sync"
	"weak"
)

// encodedDocs keeps the encoded documents of values that do not change, while these are in use. Safe for concurrent
// use.
type encodedDocs[T any] struct {
	max   int // of the bytes of all of them
	mu    sync.Mutex
	docs  map[weak.Pointer[T]]*encodedDoc
	bytes int
}

// encodedDoc is one document. Requests at the same time encode it once.
type encodedDoc struct {
	once sync.Once
	text []byte
	err  error
}

// of returns the document of a value. It calls encode if it has none.
func (d *encodedDocs[T]) of(value *T, encode func() ([]byte, error)) ([]byte, error) {
	key := weak.Make(value)
	doc := d.doc(key)
	doc.once.Do(func() {
		doc.text, doc.err = encode()
		d.count(key, doc)
	})
	return doc.text, doc.err
}

// doc returns the document of a value, a new one if there is none.
func (d *encodedDocs[T]) doc(key weak.Pointer[T]) *encodedDoc {
	d.mu.Lock()
	defer d.mu.Unlock()
	doc := d.docs[key]
	if doc == nil {
		doc = new(encodedDoc)
		if d.docs == nil {
			d.docs = map[weak.Pointer[T]]*encodedDoc{}
		}
		d.docs[key] = doc
	}
	return doc
}

// count counts the bytes of a document that was just encoded. If all of them are too many, it removes the others. A
// document with an error is not kept.
func (d *encodedDocs[T]) count(key weak.Pointer[T], doc *encodedDoc) {
	d.mu.Lock()
	defer d.mu.Unlock()
	if doc.err != nil {
		delete(d.docs, key)
		return
	}
	if d.bytes += len(doc.text); d.bytes > d.max {
		d.docs, d.bytes = map[weak.Pointer[T]]*encodedDoc{}, len(doc.text)
	}
	d.docs[key] = doc
}
