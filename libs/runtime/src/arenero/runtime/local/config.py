"""Settings of the local driver, the table `[runtime.local]`."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path

_MIB = 1 << 20
FIRST_FREE_ID = 65_536


@dataclass(frozen=True, slots=True)
class LocalConfig:
    """Where the local driver keeps its things, and how much of everything."""

    state_dir: Path = Path("/var/lib/arenero/local")
    """Holds sandboxes, templates and unpacked images. Sockets are in it too, so its path must be short: at most 55
    bytes. One driver at a time."""
    first_id: int = 524_288
    """First user and group id of the host that sandboxes are mapped to; each takes 65,536. The default is where systemd
    keeps the range for containers free."""
    most_sandboxes: int = 4_096
    """How many ranges of ids there are, and so how many sandboxes at once."""
    prepared: int = 2
    """Sandboxes that are built ahead of time, each some 9 MB; 0 turns that off. They make the next start quick."""
    allowed_sources: tuple[Path, ...] = ()
    """Directories below which a root file system or an image layout may be; a tenant can read all that is in them.
    `<state_dir>/sources` always is one."""
    etc_copies: tuple[str, ...] = (
        "ImageMagick-6",
        "R",
        "debian_version",
        "fonts",
        "java-*-openjdk",
        "magic",
        "magic.mime",
        "mime.types",
        "perl",
        "protocols",
        "python3",
        "python3.*",
        "services",
        "timezone",
    )
    """Names below the host's /etc that the template `host` copies, as far as everybody may read them. Everything else
    in its /etc is made up."""
    shm_bytes: int = 64 * _MIB
    """Size of /dev/shm; what is in it counts as memory."""
    run_bytes: int = 16 * _MIB
    """Size of /run; what is in it counts as memory."""
    start_timeout_s: float = 20.0
    """How long building and starting a sandbox may take before it counts as failed."""
    stop_timeout_s: float = 10.0
    """How long killed processes may take to disappear. Those stuck in the kernel can't be hurried."""
    image_bytes: int = 32 << 30
    """Most that an image may unpack to."""
    image_files: int = 2_000_000
    """Most files that an image may unpack to."""

    def __post_init__(self) -> None:
        # Ids below belong to the host's own users, and the driver ends whatever runs under a sandbox's ids.
        if self.first_id < FIRST_FREE_ID:
            raise ValueError(f"first_id must be at least {FIRST_FREE_ID}")
