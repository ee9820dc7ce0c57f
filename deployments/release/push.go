package main

import (
	"context"
	"encoding/base64"
	"fmt"
	"strings"

	"github.com/google/go-containerregistry/pkg/authn"
	"github.com/google/go-containerregistry/pkg/name"
	v1 "github.com/google/go-containerregistry/pkg/v1"
	"github.com/google/go-containerregistry/pkg/v1/empty"
	"github.com/google/go-containerregistry/pkg/v1/mutate"
	"github.com/google/go-containerregistry/pkg/v1/partial"
	"github.com/google/go-containerregistry/pkg/v1/remote"
	"github.com/google/go-containerregistry/pkg/v1/static"
	"github.com/google/go-containerregistry/pkg/v1/types"
)

// The media types of an image's list of contents and signature, and the annotation in which cosign looks for the
// signature.
const (
	spdxType        types.MediaType = "application/spdx+json"
	statementType   types.MediaType = "application/vnd.dev.cosign.simplesigning.v1+json"
	signatureInNote                 = "dev.cosignproject.cosign/signature"
)

type pushCommand struct {
	Folder string `arg:"" help:"Folder of the release." type:"existingdir"`
	To     string `arg:"" help:"Repository and tag, such as registry.example/partnerdeposits:1.2.3."`
	Key    string `help:"The owner's public key (PEM): only a release that it verifies is pushed." required:"" type:"existingfile"`
}

func (c pushCommand) Run(ctx context.Context) error {
	release, err := verify(c.Folder, c.Key)
	if err != nil {
		return err
	}
	tag, err := name.NewTag(c.To, name.StrictValidation)
	if err != nil {
		return err
	}
	digest, err := release.push(tag, remote.WithContext(ctx), remote.WithAuthFromKeychain(authn.DefaultKeychain))
	if err == nil {
		fmt.Printf("%s@%s\n", tag.Context(), digest)
	}
	return err
}

// push pushes an image, its list of contents and its signature under cosign's tag.
func (f found) push(tag name.Tag, options ...remote.Option) (digest v1.Hash, err error) {
	if err := remote.WriteIndex(tag, f.index, options...); err != nil {
		return digest, err
	}
	image, err := partial.Descriptor(f.index)
	if err != nil {
		return digest, err
	}
	list, err := artifact(f.contents, spdxType, nil)
	if err != nil {
		return digest, err
	}
	list = mutate.Subject(mutate.ConfigMediaType(list, spdxType), *image).(v1.Image)
	hash, err := list.Digest()
	if err != nil {
		return digest, err
	}
	if err := remote.Write(tag.Context().Digest(hash.String()), list, options...); err != nil {
		return digest, err
	}
	signed, err := artifact(f.statement, statementType, map[string]string{
		signatureInNote: base64.StdEncoding.EncodeToString(f.signature),
	})
	if err != nil {
		return digest, err
	}
	return image.Digest, remote.Write(signatureTag(tag.Context(), image.Digest), signed, options...)
}

func signatureTag(repository name.Repository, image v1.Hash) name.Tag {
	return repository.Tag(strings.Replace(image.String(), ":", "-", 1) + ".sig")
}

// artifact returns an OCI image whose only layer is a document.
func artifact(content []byte, mediaType types.MediaType, annotations map[string]string) (v1.Image, error) {
	image := mutate.ConfigMediaType(mutate.MediaType(empty.Image, types.OCIManifestSchema1), types.OCIConfigJSON)
	return mutate.Append(image, mutate.Addendum{Layer: static.NewLayer(content, mediaType), MediaType: mediaType,
		Annotations: annotations})
}
