"""Powers as words."""

from arenero.runtime.capabilities import Capabilities


def test_words_are_sorted_and_only_of_what_is_there() -> None:
    powers = Capabilities(
        sources=frozenset({"template", "rootfs_directory"}),
        pause_freeze=True,
        fork_memory=True,
        volumes=True,
        oci_runtimes=frozenset({"gvisor"}),
        limits=frozenset({"memory_bytes"}),
    )
    assert powers.names() == (
        "fork-memory",
        "limit-memory-bytes",
        "oci-gvisor",
        "pause-freeze",
        "source-rootfs-directory",
        "source-template",
        "volumes",
    )


def test_nothing_has_no_words() -> None:
    assert Capabilities(sources=frozenset()).names() == ()
