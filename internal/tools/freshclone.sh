#!/usr/bin/env bash
# Shows again that the README's two commands are all a newcomer needs: clones what is committed into an empty folder,
# runs the quickstart there and then ./check.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/../.." && pwd)
clone=$(mktemp -d "${TMPDIR:-/tmp}/seine-clone.XXXXXX")
trap 'rm -rf "$clone"' EXIT
git clone -q "$root" "$clone/seine"
cd "$clone/seine"
go run ./examples/quickstart >"$clone/pages.jsonl"
pages=$(wc -l <"$clone/pages.jsonl")
[ "$pages" -gt 100 ] || { echo "the quickstart wrote $pages lines" >&2; exit 1; }
./check
[ -z "$(git status --porcelain)" ] || { echo "the commands left something behind:" >&2; git status --porcelain >&2; exit 1; }
echo "shown first-crawl.1: on a fresh clone the quickstart wrote $pages pages and ./check passed"
