// Command pulumi-resource-kubernetes serves the upstream Kubernetes provider.
//
// The published module lacks the files its own main package generates before a
// release, so this one embeds the two inputs the builder copies beside it from
// the pinned module (schema.json with its version set, terraform-mapping.json).
package main

import (
	_ "embed"

	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/provider"
	"github.com/pulumi/pulumi-kubernetes/provider/v4/pkg/version"
)

//go:embed schema.json
var schema []byte

//go:embed terraform-mapping.json
var mapping []byte

func main() {
	provider.Serve("kubernetes", version.Version, schema, mapping)
}
