"""Lock what continuous integration installs: exact versions, and digests of files.

python tools/lock.py            write constraints.txt and requirements.lock of this environment
python tools/lock.py --check    say where the index would hand over other files than those that were locked

`pip install -c constraints.txt` keeps to the versions. pip can check digests itself only if all have one, and
torch without CUDA comes from elsewhere: so they are compared by `--check`, which fails if one is another. The
index is asked for one file after another, which takes about a minute; `--seconds` bounds it.
"""

import argparse
import json
import subprocess
import sys
import tempfile
from pathlib import Path

from _installed import canonical, reached

EXTRAS = (
    *(
        "dev",
        "frames",
        "cells",
        "images",
        "avatars",
        "features",
        "language",
        "trees",
        "cluster",
        "slurm",
        "browser",
        "peers",
        "causal",
        "docs",
    ),
)
ELSEWHERE = ("torch",)
BRIEF = ("--timeout", "15", "--retries", "1")  # for one file, whatever the environment allows
HEAD = "# Versions the tests run with; written by `make lock`. torch is the build without CUDA.\n"


def versions() -> dict[str, str]:
    """Return the version of each package, without the name of a local build."""
    return {name: each.version.partition("+")[0] for name, each in reached(EXTRAS).items()}


def digests(wanted: dict[str, str], seconds: float) -> dict[str, str]:
    """Ask the index for the file that it would hand over for each version, and return the digests."""
    with tempfile.TemporaryDirectory() as folder:
        asked, told = Path(folder) / "asked.txt", Path(folder) / "told.json"
        asked.write_text("".join(f"{n}=={v}\n" for n, v in wanted.items() if n not in ELSEWHERE))
        options = ["--dry-run", "--ignore-installed", "--no-deps", "-qq", "--report", str(told)]
        pip = [sys.executable, "-m", "pip", "install", "--disable-pip-version-check", *BRIEF]
        try:
            subprocess.run([*pip, *options, "-r", str(asked)], check=True, timeout=seconds)
        except subprocess.TimeoutExpired:
            sys.exit(f"the index gave no whole answer in {seconds:g} s. Try again, or allow more --seconds.")
        except subprocess.CalledProcessError as error:
            sys.exit(f"pip ended with {error.returncode}, and says why above. Is the index in reach?")
        return dict(map(_digest, json.loads(told.read_text())["install"]))


def _digest(item: dict) -> tuple[str, str]:
    hashes = item["download_info"]["archive_info"]["hashes"]
    return canonical(item["metadata"]["name"]), f"sha256:{hashes['sha256']}"


def locked(text: str) -> dict[str, str]:
    r"""Read a lock: a name, two equal signs, a version and a digest on each line.

    >>> locked("# why\nnumpy==2.0.0 --hash=sha256:ab\ntorch==2.13.0\n")
    {'numpy': '2.0.0 sha256:ab', 'torch': '2.13.0'}
    """
    lines = [line for line in text.splitlines() if "==" in line and not line.startswith("#")]
    return dict(line.replace(" --hash=", " ").split("==", 1) for line in lines)


def main() -> None:
    """Write the two files, or compare."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("--check", action="store_true")
    parser.add_argument("--seconds", type=float, default=300, help="how long to wait for the index; 300")
    given = parser.parse_args()
    lock = Path("requirements.lock")
    known = locked(lock.read_text()) if given.check else {}
    wanted = {n: v.partition(" ")[0] for n, v in known.items()} or versions()
    sys.stderr.write(f"asking the index for {len(wanted)} versions, for {given.seconds:g} s at most\n")
    found = digests(wanted, given.seconds)
    lines = [f"{n}=={v}" + (f" --hash={found[n]}" if n in found else "") for n, v in wanted.items()]
    if given.check:
        other = sorted(n for n, v in locked("\n".join(lines)).items() if v != known[n])
        if other:
            sys.exit(f"other files than those locked: {', '.join(other)}")
        sys.stdout.write(f"{len(found)} files are those that were locked\n")
        return
    lock.write_text(HEAD + "\n".join(lines) + "\n")
    Path("constraints.txt").write_text(HEAD + "".join(f"{n}=={v}\n" for n, v in wanted.items()))
    sys.stdout.write(f"{len(wanted)} versions, {len(found)} digests\n")


if __name__ == "__main__":
    main()
