#!/usr/bin/env bash
# Formats all C++ sources by .clang-format; with --check changes nothing and fails where something would change.
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$root"

options=(-i)
[[ "${1:-}" == --check ]] && options=(--dry-run --Werror)
find src include drivers python examples tests bench \( -name '*.hpp' -o -name '*.cpp' \) -print0 |
  xargs -0 --no-run-if-empty -n 20 -P "$(nproc)" clang-format "${options[@]}"
