#!/usr/bin/env bash
# Generate the stubs, build, and run: ./run.sh [COMMAND]. `./run.sh --build` stops before running.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")"

# Its messages, and the colour codes that it can't be talked out of, are no output of the client.
mvn --batch-mode --quiet --no-transfer-progress compile >&2
[[ ${1:-} == --build ]] || exec java -cp "target/classes:$(<target/classpath)" com.example.arenero.Client "$@"
