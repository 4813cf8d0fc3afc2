package tool

import _ "github.com/yuin/goldmark" // reads .md definitions
