#!/usr/bin/env bash
# Runs clang-tidy (.clang-tidy) on the sources changed since a commit: scripts/tidy.sh [commit, default HEAD] or on the
# given files: scripts/tidy.sh file.cpp .. . `--all`: on every source. Needs a configured build/release or build/ci.
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$root"

database=
for folder in ${RECOIL_BUILD:-} build/release build/ci; do
  [[ -f "$folder/compile_commands.json" ]] && database=$folder && break
done
if [[ -z "$database" ]]; then
  echo "tidy: no compile_commands.json; run: cmake --preset release" >&2
  exit 2
fi
if [[ "${1:-}" == --all ]]; then
  mapfile -t files < <(find src drivers python -name '*.cpp')
elif [[ "${1:-}" == *.cpp ]]; then
  files=("$@")
else
  mapfile -t files < <(
    git diff --name-only --diff-filter=d "${1:-HEAD}" -- '*.cpp'
    git ls-files --others --exclude-standard -- '*.cpp'
  )
fi
((${#files[@]})) || exit 0
# The database was written for gcc: flags that clang does not know are no finding.
printf '%s\0' "${files[@]}" |
  xargs -0 -n 1 -P "$(nproc)" clang-tidy --quiet -p "$database" --extra-arg=-Wno-unknown-warning-option
