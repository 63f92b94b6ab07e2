#!/bin/sh
# Runs every fuzz target of the repository for the given time, one after the
# other, since `go test -fuzz` takes one at a time.
set -eu
for package in $(go list ./...); do
	for target in $(go test -list '^Fuzz' "$package" | grep '^Fuzz' || true); do
		echo "$package $target"
		go test -run '^$' -fuzz "^$target\$" -fuzztime "${1:-30s}" "$package"
	done
done
