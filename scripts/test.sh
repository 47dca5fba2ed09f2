#!/usr/bin/env bash
# Builds recoil and runs all tests but those labelled `long`: scripts/test.sh [preset] [ctest arguments].
# Presets: ci (default; warnings are errors), debug (sanitizers), coverage.
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$root"

preset=ci
if (($# > 0)) && [[ "$1" != -* ]]; then
  preset=$1
  shift
fi
bash scripts/install_dependencies.sh
build "$preset"
step "tests of preset $preset"
# Tests of whole runs are counted by their most ranks and often have one at work: half as many again keep all processors busy.
ctest --preset "$preset" -j $((processors + (processors + 1) / 2)) "$@" </dev/null
step "all tests passed"
