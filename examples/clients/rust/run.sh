#!/usr/bin/env bash
# Build (build.rs generates the stubs) and run: ./run.sh [COMMAND]. `./run.sh --build` stops before running.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

cargo build --quiet --locked
[[ ${1:-} == --build ]] || exec target/debug/arenero-client "$@"
