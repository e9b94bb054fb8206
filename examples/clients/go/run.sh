#!/usr/bin/env bash
# Generate the stubs, build, and run: ./run.sh [COMMAND]. `./run.sh --build` stops before running.
set -euo pipefail
here="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
repository="$here/../../.."

# buf is on PyPI as buf-bin, and `make setup` installs it.
buf="$(command -v buf || echo "$repository/.venv/bin/buf")"
[[ -x $buf ]] || { echo "no buf: run \`make setup\`, or \`pip install buf-bin\`" >&2; exit 1; }

cd "$here"
# A lock file that would have to change is an error.
export GOFLAGS="${GOFLAGS:-} -mod=readonly"
"$buf" generate "$repository" --template buf.gen.yaml
go build -o build/arenero-client .
[[ ${1:-} == --build ]] || exec build/arenero-client "$@"
