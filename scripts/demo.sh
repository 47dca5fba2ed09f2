#!/usr/bin/env bash
# From a fresh clone to a picture: builds recoil, simulates a bundled scene on 2 ranks, draws the result.
# scripts/demo.sh [scene.json] [run folder]
set -euo pipefail
source "$(dirname "$0")/common.sh"
cd "$root"

scene=${1:-jobs/demo/scene.json}
run=${2:-build/demo/run}
bash scripts/install_dependencies.sh
build release

if [[ -z "${2:-}" ]]; then
  rm -rf build/demo
elif [[ -e "$run" ]]; then
  echo "demo: $run exists; name a new folder" >&2
  exit 2
fi
mkdir -p "$(dirname "$run")"
step "simulate $scene on 2 ranks"
mpirun -n 2 build/release/recoil simulate "$scene" -o "$run" </dev/null
step "draw"
"$(drawing_python)" scripts/render.py "$run" -o "$run/picture.png" --times 4 --summary
step "done: picture in $run/picture.png, fields for ParaView in $run/trajectory/trajectory.xdmf"
