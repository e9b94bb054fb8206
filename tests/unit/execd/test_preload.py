import subprocess
import sys

from arenero.execd import preload


def test_everything_of_execd_and_isolation_is_loaded() -> None:
    code = (
        "import sys; from arenero.execd import preload; preload.load(); "
        "print('\\n'.join(name for name in sys.modules if name.startswith('arenero.')))"
    )
    loaded = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True).stdout.split()
    assert {"arenero.execd.wiring", "arenero.execd.init", "arenero.isolation.builder"} <= set(loaded)
    assert "arenero.execd.__main__" not in loaded


def test_lazy_modules_exist() -> None:
    assert len(set(preload.LAZY)) == len(preload.LAZY)
