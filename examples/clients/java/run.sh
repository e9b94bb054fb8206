#!/usr/bin/env bash
# Generate the stubs, build, and run: ./run.sh [COMMAND]. `./run.sh --build` stops before running.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

mvn --batch-mode --quiet --no-transfer-progress -Dstyle.color=never compile
[[ ${1:-} == --build ]] || exec java -cp "target/classes:$(<target/classpath)" com.example.arenero.Client "$@"
