"""A Python in which a package from PyPI can be imported: this one, or a virtual environment made for it."""

import importlib.util
import os
import subprocess
import sys
import tempfile


def run_with(*packages, module=None):
    """Goes on when `module` (by default the first package) is here; else runs this script again in a Python that has the
    packages, or says that there is none and exits 0."""
    if importlib.util.find_spec(module or packages[0]):
        return
    folder = tempfile.mkdtemp(prefix="quire-client-")
    python = os.path.join(folder, "bin", "python")
    made = subprocess.run([sys.executable, "-m", "venv", folder], capture_output=True)
    got = made.returncode == 0 and subprocess.run([python, "-m", "pip", "install", "-q", *packages],
                                                  capture_output=True).returncode == 0
    if not got:
        print("skipped: %s cannot be installed here" % ", ".join(packages))
        sys.exit(0)
    os.execv(python, [python, *sys.argv])


def check(condition, what):
    if not condition:
        sys.exit("FAILED: %s" % (what,))
    print("ok:", what)
