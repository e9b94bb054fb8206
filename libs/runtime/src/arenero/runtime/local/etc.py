"""The made-up /etc of the template `host`: what programs need to find there, and nothing of the host's secrets.

Texts are ours. From the host come only lists of libraries, links into /usr, public certificates, and the files that the
configuration names; of those only what everybody may read.
"""

from __future__ import annotations

import os
import shutil
import stat
from collections.abc import Iterable, Iterator
from pathlib import Path
from typing import Final

_PASSWD: Final = """\
root:x:0:0:root:/root:/bin/bash
daemon:x:1:1:daemon:/usr/sbin:/usr/sbin/nologin
bin:x:2:2:bin:/bin:/usr/sbin/nologin
sys:x:3:3:sys:/dev:/usr/sbin/nologin
mail:x:8:8:mail:/var/mail:/usr/sbin/nologin
www-data:x:33:33:www-data:/var/www:/usr/sbin/nologin
sandbox:x:1000:1000:sandbox:/home/sandbox:/bin/bash
nobody:x:65534:65534:nobody:/nonexistent:/usr/sbin/nologin
"""
_GROUP: Final = """\
root:x:0:
daemon:x:1:
bin:x:2:
sys:x:3:
adm:x:4:
tty:x:5:
disk:x:6:
mail:x:8:
www-data:x:33:
utmp:x:43:
staff:x:50:
users:x:100:
sandbox:x:1000:
nogroup:x:65534:
"""
_PROFILE: Final = """\
export PATH="${PATH:-/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin}"
if [ -n "${BASH_VERSION-}" ] && [ -n "${PS1-}" ] && [ -f /etc/bash.bashrc ]; then . /etc/bash.bashrc; fi
for script in /etc/profile.d/*.sh; do if [ -r "$script" ]; then . "$script"; fi; done
unset script
"""
_BASHRC: Final = """\
[ -z "${PS1-}" ] && return
shopt -s checkwinsize
PS1='\\u@\\h:\\w\\$ '
"""
_INPUTRC: Final = """\
set input-meta on
set output-meta on
"\\e[1~": beginning-of-line
"\\e[4~": end-of-line
"\\e[3~": delete-char
"\\e[5C": forward-word
"\\e[5D": backward-word
"\\e[1;5C": forward-word
"\\e[1;5D": backward-word
"""
_NSSWITCH: Final = """\
passwd: files
group: files
shadow: files
hosts: files dns
services: files
protocols: files
"""
_OPENSSL: Final = """\
[req]
distinguished_name = req_distinguished_name
[req_distinguished_name]
"""
TEXTS: Final = {
    "bash.bashrc": _BASHRC,
    "group": _GROUP,
    "host.conf": "multi on\n",
    "hostname": "sandbox\n",
    "hosts": "127.0.0.1\tlocalhost\n::1\tlocalhost ip6-localhost ip6-loopback\n127.0.1.1\tsandbox\n",
    "inputrc": _INPUTRC,
    "issue": "\n",
    "nsswitch.conf": _NSSWITCH,
    "passwd": _PASSWD,
    "profile": _PROFILE,
    "resolv.conf": "# This sandbox has no network.\n",
    "shells": "/bin/sh\n/bin/bash\n/usr/bin/sh\n/usr/bin/bash\n",
    "ssl/openssl.cnf": _OPENSSL,
    "subgid": "",
    "subuid": "",
}
_DIRECTORIES: Final = ("alternatives", "ld.so.conf.d", "opt", "profile.d", "skel", "ssl/certs", "ssl/private")
_LIBRARIES: Final = ("ld.so.cache", "ld.so.conf", "ld.so.conf.d/*.conf")
_CERTIFICATES: Final = ("ca-certificates.crt", "*.0", "*.pem", "java")
_PUBLIC_ROOTS: Final = ("/usr/", "/bin/", "/lib", "/sbin/", "/opt/")


def write_etc(target: Path, copies: Iterable[str], host: Path = Path("/etc")) -> None:
    """Fill an empty directory with a synthetic /etc.

    Args:
        target: The directory.
        copies: Patterns of names in the host's /etc that are copied as far as everybody may read them.
        host: The host's /etc.
    """
    for name in _DIRECTORIES:
        (target / name).mkdir(parents=True, exist_ok=True)
    for name, text in TEXTS.items():
        (target / name).parent.mkdir(parents=True, exist_ok=True)
        (target / name).write_text(text)
    for source in _matches(host, (*_LIBRARIES, *copies)):
        _copy_public(source, target / source.relative_to(host))
    for source in _matches(host / "ssl/certs", _CERTIFICATES):
        _copy_public(source, target / "ssl/certs" / source.name)
    for source in _matches(host / "alternatives", ("*",)):
        _copy_link(source, target / "alternatives" / source.name)
    for name in ("localtime", "os-release"):
        _copy_link(host / name, target / name)
    (target / "mtab").symlink_to("/proc/self/mounts")


def inputs_of(copies: Iterable[str], host: Path = Path("/etc")) -> Iterator[str]:
    """Give a line for everything of the host that `write_etc` depends on; other lines mean another template."""
    patterns = (*_LIBRARIES, *copies, "ssl/certs/*", "alternatives/*", "localtime", "os-release")
    for source in _matches(host, patterns):
        status = source.lstat()
        target = os.readlink(source) if source.is_symlink() else ""
        yield f"{source} {status.st_size} {status.st_mtime_ns} {target}"


def _matches(directory: Path, patterns: Iterable[str]) -> list[Path]:
    return sorted({path for pattern in patterns for path in directory.glob(pattern)})


def _copy_public(source: Path, target: Path) -> None:
    """Copy what everybody may read: files, directories, and links that stay within what a sandbox sees."""
    if source.is_symlink():
        _copy_link(source, target)
    elif source.is_dir() and _is_public(source, stat.S_IROTH | stat.S_IXOTH):
        target.mkdir(exist_ok=True)
        for child in sorted(source.iterdir()):
            _copy_public(child, target / child.name)
    elif source.is_file() and _is_public(source, stat.S_IROTH):
        shutil.copyfile(source, target)
        target.chmod(0o755 if source.stat().st_mode & stat.S_IXOTH else 0o644)


def _copy_link(source: Path, target: Path) -> None:
    """Copy a link that leads into /usr and the like, or to a neighbour."""
    if not source.is_symlink():
        return
    leads_to = os.readlink(source)
    whole = os.path.normpath(source.parent / leads_to)
    if whole.startswith(_PUBLIC_ROOTS) or "/" not in leads_to:
        target.unlink(missing_ok=True)
        target.symlink_to(leads_to)


def _is_public(path: Path, bits: int) -> bool:
    return path.stat().st_mode & bits == bits
