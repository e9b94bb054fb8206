#!/usr/bin/env bash
# Install Debian packages that are not there yet. Fast and silent when there is nothing to do.
# Usage: apt.sh PACKAGE...
set -euo pipefail

# Another distribution: its packages have other names, and what is missing shows in `arenero doctor`.
command -v dpkg-query >/dev/null || exit 0

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

echo "installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
# Always: old lists name versions that the mirror no longer has, and the lists' own times don't tell their age.
apt-get update -qq </dev/null || echo "apt-get update failed; going on with the lists that are there" >&2
apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null >/dev/null
