#!/usr/bin/env bash
# Fits parameters to observations: builds recoil, optimizes a bundled study on 2 ranks, makes a page with pictures.
# scripts/fit.sh [study.json] [fit folder]
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$root"

study=${1:-jobs/fit/study.json}
fit=${2:-build/fit}
bash scripts/install_dependencies.sh
build release

if [[ -z "${2:-}" ]]; then
  rm -rf build/fit
elif [[ -e "$fit" ]]; then
  echo "fit: $fit exists; name a new folder, or continue it with recoil optimize --restart" >&2
  exit 2
fi
mkdir -p "$(dirname "$fit")"
step "optimize $study on 2 ranks"
code=0
mpirun -n 2 build/release/recoil optimize "$study" -o "$fit" </dev/null || code=$?
# 3: not converged, which the page says as well.
[[ $code == 0 || ($code == 3 && -e "$fit/fit.json") ]] || exit "$code"
step "report"
"$(drawing_python)" scripts/report.py "$fit" --recoil build/release/recoil
step "done: page with pictures in $fit/report.html, parameters with intervals in $fit/fit.json"
exit "$code"
