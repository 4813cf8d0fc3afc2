package dag

import "time"

// Artifact is a file or a folder that was kept of a step.
type Artifact struct {
	Name    string    `json:"name"`
	Path    string    `json:"path,omitempty"`  // of the file or the folder
	Paths   []string  `json:"paths,omitempty"` // of a loop: the paths of the artifacts with this name of its items
	Files   int       `json:"files,omitempty"`
	Size    int64     `json:"size,omitempty"`   // bytes
	Digest  string    `json:"digest,omitempty"` // sha256:HEX, of the file, or of the list of files with their digests
	Expires time.Time `json:"expires,omitzero"` // when it is removed, although the run may be kept longer
}

func appendArtifactsJSON(b []byte, list []Artifact) []byte {
	for i := range list {
		b = append(b, [...]string{`,"artifacts":[`, `,`}[min(i, 1)]...)
		b = list[i].appendJSON(b)
	}
	if len(list) > 0 {
		b = append(b, ']')
	}
	return b
}

func (a *Artifact) appendJSON(b []byte) []byte {
	b = append(b, `{"name":`...)
	b = appendString(b, a.Name)
	b = appendOptionalString(b, `,"path":`, a.Path)
	for i, path := range a.Paths {
		b = append(b, [...]string{`,"paths":[`, `,`}[min(i, 1)]...)
		b = appendString(b, path)
	}
	if len(a.Paths) > 0 {
		b = append(b, ']')
	}
	b = appendOptionalInt(b, `,"files":`, a.Files)
	b = appendOptionalInt(b, `,"size":`, int(a.Size))
	b = appendOptionalString(b, `,"digest":`, a.Digest)
	b = appendOptionalTime(b, `,"expires":`, a.Expires)
	return append(b, '}')
}
