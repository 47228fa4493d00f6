module github.com/seine-go/seine/internal/peerbench

go 1.26.0

require (
	github.com/anacrolix/torrent v1.62.0
	github.com/ohler55/ojg v1.28.5
	github.com/seine-go/seine v0.0.0
	github.com/tidwall/gjson v1.18.0
)

require (
	github.com/anacrolix/generics v0.2.0 // indirect
	github.com/anacrolix/missinggo v1.3.0 // indirect
	github.com/anacrolix/missinggo/v2 v2.11.0 // indirect
	github.com/huandu/xstrings v1.3.2 // indirect
	github.com/klauspost/cpuid/v2 v2.2.3 // indirect
	github.com/minio/sha256-simd v1.0.0 // indirect
	github.com/mr-tron/base58 v1.2.0 // indirect
	github.com/multiformats/go-multihash v0.2.3 // indirect
	github.com/multiformats/go-varint v0.0.6 // indirect
	github.com/spaolacci/murmur3 v1.1.0 // indirect
	github.com/theory/jsonpath v0.12.3 // indirect
	github.com/tidwall/match v1.1.1 // indirect
	github.com/tidwall/pretty v1.2.0 // indirect
	golang.org/x/crypto v0.57.0 // indirect
	golang.org/x/exp v0.0.0-20251113190631-e25ba8c21ef6 // indirect
	golang.org/x/sys v0.48.0 // indirect
	lukechampine.com/blake3 v1.1.6 // indirect
)

replace github.com/seine-go/seine => ../..
