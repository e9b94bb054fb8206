#!/usr/bin/env bash
# Make .tools: a private environment that holds uv and nothing else.
# Usage: bootstrap.sh PYTHON UV_VERSION      (PYTHON may be empty: the newest of the ones that Arenero runs on is taken)
set -euo pipefail

python="$1" uv_version="$2" tools=.tools

# A name on the path proves nothing (pyenv's shims exist for versions that don't run), so each candidate is run.
supported() {
    "$1" -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' >/dev/null 2>&1
}

find_python() {
    local candidate
    for candidate in $python python3.13 python3.12 python3.11 python3; do
        if supported "$candidate"; then
            command -v "$candidate"
            return
        fi
        if [[ -n $python ]]; then
            break
        fi
    done
    echo "missing: Python 3.11, 3.12 or 3.13${python:+ ($python is not one)}; on Debian and Ubuntu: apt-get install python3 python3-venv" >&2
    return 1
}

has_venv() {
    "$1" -c 'import ensurepip, venv' >/dev/null 2>&1
}

python="$(find_python)"
if ! has_venv "$python"; then
    # Debian splits the venv module from the interpreter.
    if [[ $(id -u) == 0 ]] && command -v apt-get >/dev/null; then
        "$(dirname "$0")/apt.sh" python3-venv
        if ! has_venv "$python" && supported /usr/bin/python3; then
            python=/usr/bin/python3
        fi
    fi
    if ! has_venv "$python"; then
        echo "missing: the venv module of $python; as root: apt-get install python3-venv" >&2
        exit 1
    fi
fi

rm -rf "$tools"
"$python" -m venv "$tools"
"$tools/bin/python" -m pip --quiet --disable-pip-version-check install "uv==$uv_version"
