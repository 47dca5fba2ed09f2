# Sourced by the other scripts: where the repository is, and how MPI runs as root, in containers and on small machines.
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)
export OMPI_ALLOW_RUN_AS_ROOT=1 OMPI_ALLOW_RUN_AS_ROOT_CONFIRM=1
export OMPI_MCA_rmaps_base_oversubscribe=1 OMPI_MCA_hwloc_base_binding_policy=none
export OMPI_MCA_btl_vader_single_copy_mechanism=none OMPI_MCA_mpi_yield_when_idle=1
# Small runs would spend most of their time on a look for networks and on a daemon for each process without mpirun.
export OMPI_MCA_pml=ob1 OMPI_MCA_ess_singleton_isolated=1
export OMP_NUM_THREADS=${OMP_NUM_THREADS:-1}

# nproc believes OMP_NUM_THREADS, which is about threads of one rank.
processors=$(env -u OMP_NUM_THREADS nproc)

# step TEXT: says what happens now and how long all took so far.
step() { printf '[%4d s] %s\n' "$SECONDS" "$*"; }

# build PRESET: configures and builds it with the processors there are.
build() {
  step "build preset $1"
  (cd "$root" && cmake --preset "$1" -Wno-dev >/dev/null && cmake --build --preset "$1" -- -j"$processors")
}

# drawing_python: an interpreter that has numpy, h5py and matplotlib; the system's where another comes first in PATH.
drawing_python() {
  local candidate
  for candidate in python3 /usr/bin/python3; do
    # To import them would take half a second of every test.
    if "$candidate" -c 'import importlib.util as u; exit(not all(map(u.find_spec, ("numpy", "h5py", "matplotlib"))))' 2>/dev/null; then
      echo "$candidate"
      return
    fi
  done
  echo "no python3 with numpy, h5py and matplotlib" >&2
  return 1
}
