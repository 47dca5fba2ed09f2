#!/usr/bin/env bash
# Builds the image of packaging/Dockerfile with podman or docker and simulates in it on 2 ranks; then does what packaging/recoil.def
# does, its %post and %test, as Apptainer is no Debian package.
#
#   packaging/test_container.sh debian:12-slim       # the base from a registry
#   sudo packaging/test_container.sh                 # without a registry: a Debian 12 by debootstrap takes its place
#
# RECOIL_CONTAINER names another program than podman or docker.
set -euo pipefail
source "$(dirname "$0")/../scripts/common.sh"
source "$root/packaging/bare_debian.sh"
cd "$root"

engine=${RECOIL_CONTAINER:-$(command -v podman docker | head -n 1)}
[[ -n "$engine" ]] || { echo "test_container: neither podman nor docker is here" >&2 && exit 1; }
work=$(mktemp -d)
trap 'rm -rf --one-file-system "$work"' EXIT
base=${1:-}
if [[ -z "$base" ]]; then
  base=localhost/recoil-bare-debian
  step "$base by debootstrap"
  make_bare_debian "$work/debian" "$(debian_mirror)" >"$work/log"
  tar -C "$work/debian" -c . | "$engine" import - "$base" >/dev/null
fi

step "build the image of packaging/Dockerfile"
# build IMAGE ARGUMENTS ..: an image, the log only if it fails.
build_image() {
  local image=$1
  shift
  "$engine" build -t "$image" "$@" >"$work/log" 2>&1 </dev/null || { tail -60 "$work/log" >&2 && exit 1; }
}
build_image localhost/recoil-build --build-arg BASE="$base" --target build -f packaging/Dockerfile .
build_image localhost/recoil --build-arg BASE="$base" -f packaging/Dockerfile .
"$engine" image ls localhost/recoil
step "run the demo in it"
in_container() { "$engine" run --rm -e OMPI_MCA_rmaps_base_oversubscribe=1 localhost/recoil "$@"; }
in_container recoil --version
in_container bash -ec 'id --user --name
  mpirun -n 2 recoil simulate /usr/share/recoil/jobs/demo/scene.json -o run --steps 8
  recoil info run
  python3 /usr/share/recoil/scripts/render.py run
  test -s run/picture.png'

step "what packaging/recoil.def does"
section() { awk -v name="%$1" '/^%/ { inside = $1 == name; next } inside' packaging/recoil.def; }
mkdir "$work/def"
for name in post test; do
  section "$name" >"$work/def/$name"
done
cat >"$work/def/Dockerfile" <<END
FROM localhost/recoil-build AS packages
FROM $base
COPY --from=packages /recoil/build/package/recoil_*.deb /opt/
COPY post test /
RUN sh -ex /post && sh -ex /test
END
build_image localhost/recoil-def "$work/def"
step "done"
