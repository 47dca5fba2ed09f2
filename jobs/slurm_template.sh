#!/usr/bin/env bash
# Slurm job that runs a scene or a study to its end over as many time limits as it takes: a signal before the limit ends what is
# under way with a checkpoint (exit 75), then the job puts itself back into the queue and continues with --restart.
#
#   sbatch jobs/slurm_template.sh simulate scene.json run/
#   sbatch jobs/slurm_template.sh gradient study.json grad/
#   sbatch jobs/slurm_template.sh optimize study.json fit/ [more options of recoil]
#
# In a job array (sbatch --array) %a in an argument stands for the index of the task.
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

arguments=("${@//%a/${SLURM_ARRAY_TASK_ID:-%a}}")
command=${arguments[0]:?simulate, gradient or optimize}
input=${arguments[1]:?scene or study}
folder=${arguments[2]:?folder of the results}
recoil=${RECOIL:-recoil}

# module load openmpi petsc hdf5 metis
export OMP_NUM_THREADS=1
# Parallel file systems without locks: export HDF5_USE_FILE_LOCKING=FALSE

case $command in
simulate) begun=$folder/trajectory/manifest.json ;;
gradient | optimize) begun=$folder/study.json ;;
*)
  echo "recoil $command is no long job: simulate, gradient or optimize" >&2
  exit 2
  ;;
esac
if [[ -f $begun ]]; then
  what=(--restart "$folder")
else
  what=("$input" -o "$folder")
fi

# mpirun hands SIGUSR1 on to the ranks. A trapped signal ends bash's wait early with 128 + 10: wait again.
mpirun "$recoil" "$command" "${what[@]}" "${arguments[@]:3}" &
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
