package functions

import (
	"crypto/md5"
	"crypto/sha1"
	"crypto/sha256"
	"crypto/sha512"
	"encoding/base64"
	"encoding/hex"
	"hash"

	"github.com/google/uuid"
	"github.com/zclconf/go-cty/cty"
	"github.com/zclconf/go-cty/cty/function"
)

func hashFunctions() map[string]entry {
	return map[string]entry{
		"base64sha256": {hashOf(sha256.New, base64.StdEncoding.EncodeToString), "The SHA-256 of a string, in Base64."},
		"base64sha512": {hashOf(sha512.New, base64.StdEncoding.EncodeToString), "The SHA-512 of a string, in Base64."},
		"md5":          {hashOf(md5.New, hex.EncodeToString), "The MD5 of a string, in hexadecimal digits. Not secure."},
		"sha1":         {hashOf(sha1.New, hex.EncodeToString), "The SHA-1 of a string, in hexadecimal digits. Not secure."},
		"sha256":       {hashOf(sha256.New, hex.EncodeToString), "The SHA-256 of a string, in hexadecimal digits."},
		"sha512":       {hashOf(sha512.New, hex.EncodeToString), "The SHA-512 of a string, in hexadecimal digits."},
		"uuidv5":       {simple(cty.String, uuidV5, "namespace", "name"), "The version 5 UUID (RFC 9562) of a name in a namespace: dns, url, oid, x500 or a UUID."},
	}
}

func hashOf(algorithm func() hash.Hash, write func([]byte) string) function.Function {
	return simple(cty.String, func(args []string) (cty.Value, error) {
		return cty.StringVal(write(digest(algorithm, []byte(args[0])))), nil
	}, "string")
}

func digest(algorithm func() hash.Hash, content []byte) []byte {
	h := algorithm()
	h.Write(content) // a hash never fails
	return h.Sum(nil)
}

func uuidV5(args []string) (cty.Value, error) {
	var namespace uuid.UUID
	switch args[0] {
	case "dns":
		namespace = uuid.NameSpaceDNS
	case "url":
		namespace = uuid.NameSpaceURL
	case "oid":
		namespace = uuid.NameSpaceOID
	case "x500":
		namespace = uuid.NameSpaceX500
	default:
		var err error
		if namespace, err = uuid.Parse(args[0]); err != nil {
			return cty.NilVal, function.NewArgErrorf(0, "%q is none of dns, url, oid, x500 and no UUID", args[0])
		}
	}
	return cty.StringVal(uuid.NewSHA1(namespace, []byte(args[1])).String()), nil
}
