package bundle

import _ "github.com/evanw/esbuild/pkg/api"
