#!/usr/bin/env bash
# Slurm job that runs a scene to its end over as many time limits as it takes: a signal before the limit drops the step under
# way and writes a checkpoint (exit 75), then the job puts itself back into the queue and continues with --restart.
#
#   sbatch jobs/slurm_template.sh scene.json run_folder
#
# Fill in partition, account, size and the modules of your site.
#SBATCH --job-name=recoil
#SBATCH --nodes=2
#SBATCH --ntasks-per-node=32
#SBATCH --cpus-per-task=1
#SBATCH --time=12:00:00
#SBATCH --signal=B:USR1@300
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%j.log
set -uo pipefail

scene=${1:?scene.json}
run=${2:?run folder}
recoil=${RECOIL:-recoil}

# module load openmpi petsc slepc hdf5 metis
export OMP_NUM_THREADS=1
# Parallel file systems without locks: export HDF5_USE_FILE_LOCKING=FALSE

if [[ -f "$run/trajectory/manifest.json" ]]; then
  arguments=(simulate --restart "$run")
else
  arguments=(simulate "$scene" -o "$run")
fi

# mpirun hands SIGUSR1 on to the ranks. A trapped signal ends bash's wait early with 128 + 10: wait again.
mpirun "$recoil" "${arguments[@]}" &
pid=$!
trap 'kill -USR1 "$pid"' USR1
code=138
for ((tries = 0; code == 138 && tries < 10; ++tries)); do
  wait "$pid"
  code=$?
done

if ((code == 75)); then
  echo "checkpointed; back into the queue"
  scontrol requeue "$SLURM_JOB_ID"
  exit 0
fi
exit "$code"
