#!/usr/bin/env bash
# Optimises a study from several start values as a job array, a task per start, each with checkpoints and restarts of its own.
# Run it on the login node; what follows the number goes to sbatch:
#
#   jobs/slurm_array.sh study.json starts/ 16 --ntasks=8 --time=4:00:00
#   scripts/starts.py list starts/                         # when they are done: the best one first
#
# Task i optimises starts/study-i.json into starts/fit-i. Task 0 has the start values of the study, the others draw theirs between
# the bounds with the seed i.
set -euo pipefail
root=$(cd "$(dirname "${BASH_SOURCE[0]}")/.." && pwd)

study=${1:?study.json}
folder=${2:?folder of the starts}
count=${3:?number of starts}

mkdir -p "$folder"
for ((i = 0; i < count; ++i)); do
  python3 "$root/scripts/starts.py" draw "$study" "$i" -o "$folder/study-$i.json"
done
sbatch --array="0-$((count - 1))" --output="$folder/log-%a.txt" "${@:4}" \
  "$root/jobs/slurm_template.sh" optimize "$folder/study-%a.json" "$folder/fit-%a"
