#!/usr/bin/env bash
# Generate the stubs, build, and run: ./run.sh [COMMAND]. `./run.sh --build` stops before running.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# No package here needs its install script: buf comes as a package per platform.
[[ node_modules/.package-lock.json -nt package-lock.json ]] || npm ci --ignore-scripts --no-audit --no-fund --loglevel=error
npm run --silent generate
npm run --silent build
[[ ${1:-} == --build ]] || exec node build/src/main.js "$@"
