#!/usr/bin/env bash
# `make demo`: start a platform of its own in a scratch directory, do the first job on it, stop it.
set -euo pipefail
cd "$(dirname "$0")/.."

if [ "$(id -u)" -ne 0 ] && ! unshare --user --map-root-user true 2>/dev/null; then
    echo "make demo needs root, or user namespaces for ordinary users: run it with sudo, or set kernel.unprivileged_userns_clone=1" >&2
    exit 1
fi

scratch=$(mktemp -d "${TMPDIR:-/tmp}/arenero-demo.XXXXXX")
export ARENERO_HOME="$scratch/home" ARENERO_DEMO_OUT="${ARENERO_DEMO_OUT:-$PWD/examples/out}"
unset ARENERO_ADDRESS ARENERO_API_KEY
arenero=.venv/bin/arenero

stop() {
    "$arenero" down --purge || true
    rm -rf "$scratch"
}
trap stop EXIT
trap 'exit 130' INT TERM

"$arenero" up --detach --grpc 127.0.0.1:0 --http 127.0.0.1:0
if ! "$arenero" doctor --quiet --runtime local; then
    echo
    echo "************************************************************************"
    echo "* This machine can't give sandboxes the standard isolation (see below). *"
    echo "* The demo goes on with BEST EFFORT. Don't run untrusted code this way. *"
    echo "************************************************************************"
    "$arenero" doctor --runtime local || true
    export ARENERO_BEST_EFFORT=1
fi
.venv/bin/python examples/first_job.py
