#!/usr/bin/env bash
# Install Debian packages that are not there yet. Fast and silent when there is nothing to do.
# Usage: apt.sh PACKAGE...
set -euo pipefail

missing=()
for package in "$@"; do
    status="$(dpkg-query --show --showformat='${db:Status-Status}' "$package" 2>/dev/null || true)"
    [[ $status == installed ]] || missing+=("$package")
done
[[ ${#missing[@]} -gt 0 ]] || exit 0

if [[ $(id -u) != 0 ]]; then
    echo "missing: ${missing[*]}; as root: apt-get install ${missing[*]}" >&2
    exit 1
fi

export DEBIAN_FRONTEND=noninteractive
# Lists older than a day may name versions that the mirror no longer has.
if [[ -z $(find /var/lib/apt/lists -maxdepth 1 -name '*Packages*' -mtime -1 -print -quit 2>/dev/null) ]]; then
    apt-get update -qq </dev/null
fi
apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null >/dev/null
