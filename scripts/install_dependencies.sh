#!/usr/bin/env bash
# Installs the Debian packages that recoil is built, tested and drawn with; does nothing when all are there.
# Needs root or sudo only when something is missing. `--ci` adds the tools of the continuous integration.
set -euo pipefail

packages=(
  build-essential cmake ninja-build ccache pkg-config git ca-certificates
  libopenmpi-dev openmpi-bin openssh-client # mpirun asks for ssh even on one machine
  libpetsc-real-dev libslepc-real-dev liblapack-dev libmetis-dev libhdf5-openmpi-dev
  libeigen3-dev libboost-dev libcli11-dev nlohmann-json3-dev libspdlog-dev libfmt-dev zlib1g-dev
  libopenblas0-serial # sparse Cholesky is two to five times faster than with the reference BLAS
  libgtest-dev libgmock-dev libbenchmark-dev
  python3 python3-numpy python3-h5py python3-matplotlib
  python3-dev pybind11-dev python3-mpi4py python3-scipy # the Python package and its tests
  gmsh # meshes the inside of bodies anew when a shape is optimised
)
[[ "${1:-}" == --ci ]] && packages+=(clang-format clang-tidy coinor-libclp-dev doxygen)

if ! command -v dpkg-query apt-get >/dev/null; then
  echo "install_dependencies: not a Debian system; provide what README.md lists under 'Other systems'" >&2
  exit 0
fi
missing=()
for package in "${packages[@]}"; do
  state=$(dpkg-query -W -f '${db:Status-Status}' "$package" 2>/dev/null || true)
  [[ "$state" == installed ]] || missing+=("$package")
done
if ((${#missing[@]} == 0)); then
  exit 0
fi

run=()
if ((EUID != 0)); then
  command -v sudo >/dev/null || {
    echo "install_dependencies: missing ${missing[*]}; run as root: apt-get install ${missing[*]}" >&2
    exit 1
  }
  run=(sudo)
fi
echo "install_dependencies: installing ${missing[*]}"
export DEBIAN_FRONTEND=noninteractive
"${run[@]}" apt-get update -qq </dev/null
"${run[@]}" env DEBIAN_FRONTEND=noninteractive \
  apt-get install -y -qq --no-install-recommends "${missing[@]}" </dev/null >/dev/null
echo "install_dependencies: done"
