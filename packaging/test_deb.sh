#!/usr/bin/env bash
# Installs the packages on a bare Debian 12 in a temporary folder and uses what they install there, as an ordinary user:
# a simulation and a fit on 2 ranks, picture and page, the Python package on 2 ranks, a program built against the libraries, then removes
# them again.
#
#   sudo packaging/test_deb.sh [--mirror URL] [recoil_VERSION_ARCH.deb]
#
# Without a package takes that of build/package (cmake --preset package && cmake --build --preset package && cpack --preset package);
# librecoil-dev and python3-recoil are expected beside it. The mirror is that of this machine's apt, else deb.debian.org. Needs root,
# debootstrap, 3 GB and some minutes; ends with 0 if all was as it should be.
set -euo pipefail
source "$(dirname "$0")/../scripts/common.sh"
source "$root/packaging/bare_debian.sh"

mirror=$(debian_mirror)
if [[ "${1:-}" == --mirror ]]; then
  mirror=${2:?URL of a Debian mirror}
  shift 2
fi
shopt -s nullglob
found=("$root"/build/package/recoil_*.deb)
deb=$(realpath "${1:-${found[0]:?no package; make one with the preset package}}")
dev=${deb%/*}/librecoil-dev${deb##*/recoil}
python=${deb%/*}/python3-recoil${deb##*/recoil}
for needed in "$dev" "$python"; do
  [[ -f "$needed" ]] || { echo "test_deb: $needed is missing" >&2 && exit 1; }
done
# Mounts and processes end with the namespaces.
if [[ -z "${RECOIL_TEST_DEB_INSIDE:-}" ]]; then
  RECOIL_TEST_DEB_INSIDE=1 exec unshare --mount --pid --fork --kill-child "$0" --mirror "$mirror" "$deb"
fi

work=$(mktemp -d)
bare=$work/debian
shared=/usr/share/recoil
clean() {
  for folder in proc dev sys; do
    mountpoint -q "$bare/$folder" && umount --recursive --lazy "$bare/$folder"
  done
  rm -rf --one-file-system "$work"
}
trap clean EXIT
fail() {
  echo "FAIL: $*" >&2
  exit 1
}
inside() { chroot "$bare" env -i PATH=/usr/sbin:/usr/bin:/sbin:/bin LC_ALL=C.UTF-8 DEBIAN_FRONTEND=noninteractive "$@"; }
# One-core machines, too, shall run 2 ranks.
as_user() {
  chroot --userspec=tester:tester "$bare" env -i -C /var/tmp/tester HOME=/var/tmp/tester PATH=/usr/bin:/bin LC_ALL=C.UTF-8 \
    OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none OMPI_MCA_mpi_yield_when_idle=1 OMP_NUM_THREADS=1 "$@"
}
# measure WHAT COMMAND ..: runs it, its output in the log; a line of the table: seconds and megabytes that have been added.
measure() {
  local what=$1 size=${size_now:-0} began=$SECONDS
  shift
  "$@" >>"$work/log" 2>&1 </dev/null || { tail -40 "$work/log" >&2 && fail "$what"; }
  size_now=$(du -sm --one-file-system --exclude=var/cache/apt/\* "$bare" | cut -f1)
  printf '%-66s %5d s %+6d MB\n' "$what" $((SECONDS - began)) $((size_now - size))
}
# value FILE KEY: of a JSON file of the tester.
value() { python3 -c 'import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])' "$bare/var/tmp/tester/$1" "$2"; }
expect() { [[ "$2" == "$3" ]] || fail "$1 is $2, not $3"; }

measure "debootstrap of Debian 12, minbase" make_bare_debian "$bare" "$mirror"
mount -t proc proc "$bare/proc"
mount --rbind /dev "$bare/dev"
mount --rbind --make-rslave /sys "$bare/sys"
cp "$deb" "$dev" "$python" "$bare/var/tmp/"
inside useradd --create-home --home-dir /var/tmp/tester tester
measure "apt-get update" inside apt-get update

measure "apt-get install --no-install-recommends ./recoil_*.deb" \
  inside apt-get install -y --no-install-recommends "/var/tmp/${deb##*/}"
measure "jobs/demo on 2 ranks, 4 steps of 48" as_user mpirun -n 2 recoil simulate $shared/jobs/demo/scene.json -o short --steps 4
measure "apt-get autoremove --purge" inside apt-get autoremove -y --purge recoil
measure "apt-get install ./recoil_*.deb" inside apt-get install -y "/var/tmp/${deb##*/}"
measure "jobs/demo on 2 ranks" as_user mpirun -n 2 recoil simulate $shared/jobs/demo/scene.json -o run
expect "status of the run" "$(value run/summary.json status)" "done"
expect "the number of its ranks" "$(value run/summary.json ranks)" 2
expect "the number of its steps" "$(value run/summary.json steps)" 48
measure "recoil info: all files are sound" as_user recoil info run
measure "the 4 steps continued to 8 on 1 rank" as_user recoil simulate --restart short --steps 8
measure "jobs/demo on 2 ranks as root, 4 steps" inside OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1 OMP_NUM_THREADS=1 \
  mpirun --oversubscribe -n 2 recoil simulate $shared/jobs/demo/scene.json -o /var/tmp/by_root --steps 4
as_user recoil validate no_such.json &>>"$work/log" && fail "recoil validate takes a scene that is not there"
measure "render.py" as_user python3 $shared/scripts/render.py run --times 4
[[ -s "$bare/var/tmp/tester/run/picture.png" ]] || fail "render.py made no picture"
measure "jobs/fit on 2 ranks" as_user mpirun -n 2 recoil optimize $shared/jobs/fit/study.json -o fit
expect "status of the fit" "$(value fit/fit.json status)" "done"
measure "report.py" as_user $shared/scripts/report.py fit
[[ -s "$bare/var/tmp/tester/fit/report.html" ]] || fail "report.py made no page"
measure "apt-get install ./python3-recoil_*.deb" inside apt-get install -y "/var/tmp/${python##*/}"
cat >"$bare/var/tmp/tester/use.py" <<END
import recoil
run = recoil.simulate("$shared/jobs/demo/scene.json", "by_python", steps=4)
assert run.trajectory.steps[-1] == 4 and abs(run.trajectory.u[-1]).max() > 0.01
try:
    recoil.simulate({"geometry": []}, "wrong")
except recoil.SceneError as error:
    assert error.pointer == "/geometry", error
with recoil.ReducedObjective("$shared/jobs/fit/study.json") as f:
    assert f.gradient(f.x0).shape == f.x0.shape
END
measure "import recoil: a run, an error, a gradient, on 2 ranks" as_user mpirun -n 2 python3 -m mpi4py use.py
# Root leaves compiled files behind, which have to go as well.
measure "import recoil and render.py as root" inside sh -c "python3 -c 'import recoil' && python3 $shared/scripts/render.py --help"
expect "the number of ranks from Python" "$(value by_python/summary.json ranks)" 2
measure "apt-get install ./librecoil-dev_*.deb cmake g++ make" \
  inside apt-get install -y --no-install-recommends "/var/tmp/${dev##*/}" cmake g++ make
measure "a project with find_package(recoil) is configured" \
  as_user cmake -S /usr/share/doc/librecoil-dev/examples -B examples
measure "built" as_user cmake --build examples --target bar_on_floor
measure "and run" as_user examples/bar_on_floor

inside dpkg --verify recoil librecoil-dev python3-recoil | grep . && fail "installed files have changed"
measure "apt-get purge of all three" inside apt-get purge -y recoil librecoil-dev python3-recoil
left=$(find "$bare/usr" "$bare/etc" -name '*recoil*')
[[ -z "$left" ]] || fail "purging leaves $left"
printf 'Debian %s, bytes of recoil, librecoil-dev, python3-recoil: %d, %d, %d: all is as it should be\n' \
  "$(cat "$bare/etc/debian_version")" "$(stat -c %s "$deb")" "$(stat -c %s "$dev")" "$(stat -c %s "$python")"
