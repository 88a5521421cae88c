#!/usr/bin/env bash
# Gradescope runs this once, while it builds the image. The network is there; it isn't needed any more afterwards.
#
# The base image has an older Python than the 3.11 that we need. The first of these that works is taken:
#   1. a Python of the image, 3.11 or later
#   2. one of the distribution's own archive (Ubuntu 24.04 and later have one)
#   3. the finished 3.12 of the deadsnakes archive, which serves Ubuntu 22.04
#   4. the 3.11 of Ubuntu 22.04's own archive, a release candidate that never got its last update
# AUTOGRADER_PYTHON names a Python that has all packages already: then nothing is installed.
set -euo pipefail

root="${AUTOGRADER_ROOT:-/autograder}"
source="$(cd "$(dirname "${BASH_SOURCE[0]}")" && pwd)"
export DEBIAN_FRONTEND=noninteractive

fits() {
    command -v "$1" >/dev/null 2>&1 &&
        "$1" -c 'import ensurepip, sys, venv; sys.exit(sys.version_info < (3, 11))' >/dev/null 2>&1
}

from_archive() {
    apt-get install -y --no-install-recommends "python$1" "python$1-venv" >/dev/null 2>&1 && fits "python$1"
}

from_deadsnakes() {
    apt-get install -y --no-install-recommends software-properties-common &&
        add-apt-repository -y ppa:deadsnakes/ppa && apt-get update && from_archive "$1"
}

find_python() {
    local name
    for name in python3.14 python3.13 python3.12 python3.11 python3; do
        if fits "$name"; then
            command -v "$name"
            return
        fi
    done
    apt-get update >&2
    for name in 3.14 3.13 3.12; do
        if from_archive "$name" >&2; then
            command -v "python$name"
            return
        fi
    done
    if from_deadsnakes 3.12 >&2; then
        command -v python3.12
        return
    fi
    if from_archive 3.11 >&2; then
        command -v python3.11
        return
    fi
    echo "setup.sh: no Python 3.11 or later could be installed; choose a newer base image." >&2
    return 1
}

if [ -n "${AUTOGRADER_PYTHON:-}" ]; then
    python="$AUTOGRADER_PYTHON"
else
    found="$(find_python)"
    "$found" -m venv "$root/venv"
    python="$root/venv/bin/python"
    "$python" -m pip install --no-cache-dir --disable-pip-version-check -r "$source/requirements.txt"
    # One of the two ways to keep student code apart needs it; the other one doesn't.
    apt-get install -y --no-install-recommends bubblewrap >/dev/null 2>&1 || true
fi
printf '%s\n' "$python" >"$source/interpreter"

"$python" -s -P -m compileall -q "$source/package" >/dev/null || true
# The reference lies here: whoever isn't root has nothing to look for.
chmod -R go-rwx "$source"

echo "What keeps student code apart on the machine that built this image (the one that grades may differ):"
cd "$root"
PYTHONPATH="$source/package" "$python" -s -P -m grader doctor || true
