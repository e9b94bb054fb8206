#!/usr/bin/env bash
# Fail when the .proto files break a client of the version before.
# Usage: breaking.sh [BASE]     BASE is a commit; by default the point where this branch left origin/main, or else the
#                               commit before HEAD. `none` skips the check.
set -euo pipefail
cd "$(git rev-parse --show-toplevel)"

base_commit() {
    local fork
    # In a clone of main itself the fork point is HEAD, which says nothing about what HEAD changed.
    if fork="$(git merge-base HEAD origin/main 2>/dev/null)" && [[ $fork != "$(git rev-parse HEAD)" ]]; then
        echo "$fork"
    else
        git rev-parse --verify --quiet 'HEAD~1^{commit}' || echo none
    fi
}

base="${1:-$(base_commit)}"
if [[ $base == none || -z $(git ls-tree -r --name-only "$base" -- proto/arenero | grep '\.proto$') ]]; then
    echo "buf breaking: nothing to compare with"
    exit 0
fi

before="$(mktemp -d)"
trap 'rm -rf "$before"' EXIT
git archive "$base" proto/arenero | tar -x -C "$before"
cp buf.yaml "$before"
buf=.venv/bin/buf
# Protos that don't build were nobody's API.
if ! "$buf" build "$before" -o /dev/null 2>/dev/null; then
    echo "buf breaking: the protos of $base don't build; nothing to compare with"
    exit 0
fi
"$buf" breaking --against "$before"
