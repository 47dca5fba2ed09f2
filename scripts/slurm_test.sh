#!/usr/bin/env bash
# Tries jobs/slurm_template.sh and jobs/slurm_array.sh under a real Slurm on this machine alone: installs slurm-wlm and munge (Debian,
# as root), starts them in a temporary folder, and sees
# - an optimisation of jobs/study hit its time limit, checkpoint (exit 75), go back into the queue and end at the same values as one
#   left alone;
# - a job array of four starts end.
#
#   scripts/slurm_test.sh [build/release/recoil]
#
# Ends with 0 if all of that was seen, and stops what it has started.
set -euo pipefail
source "$(dirname "$0")/common.sh"
recoil=$(realpath "${1:-$root/build/release/recoil}")
export RECOIL=$recoil

if ((EUID != 0)); then
  echo "slurm_test.sh starts daemons: run it as root" >&2
  exit 1
fi
if ! command -v slurmctld munged >/dev/null; then
  step "install slurm-wlm and munge"
  apt-get update -q >/dev/null
  DEBIAN_FRONTEND=noninteractive apt-get install -y -q slurm-wlm munge >/dev/null
fi

work=$(mktemp -d)
chmod 755 "$work"
export SLURM_CONF=$work/slurm.conf
daemons=()
stop() {
  # Steps of jobs outlive slurmd.
  scancel --state=RUNNING --user=root 2>/dev/null && sleep 8
  for ((i = ${#daemons[@]} - 1; i >= 0; --i)); do
    kill "${daemons[i]}" 2>/dev/null && wait "${daemons[i]}" 2>/dev/null || true
  done
  rm -rf "$work"
}
trap stop EXIT

# show COMMAND ..: as one sees it in a terminal.
show() {
  printf '$ %s\n' "$*"
  "$@"
}

step "munge and Slurm on one node, in $work"
install -d -o munge -g munge "$work/munge"
dd if=/dev/urandom of="$work/munge/key" bs=1 count=1024 status=none
chown munge:munge "$work/munge/key"
chmod 400 "$work/munge/key"
cd "$work"
setpriv --reuid=munge --regid=munge --clear-groups munged --foreground --socket="$work/munge/socket" --key-file="$work/munge/key" \
  --pid-file="$work/munge/pid" --seed-file="$work/munge/seed" --log-file="$work/munge/log" &>/dev/null &
daemons+=($!)
node=$(hostname -s)
mkdir -p state spool
cat >slurm.conf <<END
ClusterName=recoil
SlurmctldHost=$node(127.0.0.1)
SlurmUser=root
AuthInfo=socket=$work/munge/socket
SlurmctldPidFile=$work/slurmctld.pid
SlurmdPidFile=$work/slurmd.pid
SlurmctldLogFile=$work/slurmctld.log
SlurmdLogFile=$work/slurmd.log
StateSaveLocation=$work/state
SlurmdSpoolDir=$work/spool
ProctrackType=proctrack/linuxproc
TaskPlugin=task/none
SelectType=select/cons_tres
SelectTypeParameters=CR_Core
SchedulerType=sched/backfill
JobAcctGatherType=jobacct_gather/none
ReturnToService=2
JobRequeue=1
KillWait=5
MinJobAge=3600
NodeName=$node NodeAddr=127.0.0.1 CPUs=$processors State=UNKNOWN
PartitionName=main Nodes=ALL Default=YES State=UP
END
for ((i = 0; i < 50; ++i)); do [[ -S munge/socket ]] && break || sleep 0.1; done
slurmctld -D &>/dev/null &
daemons+=($!)
slurmd -D -N "$node" &>/dev/null &
daemons+=($!)
for ((i = 0; i < 60; ++i)); do [[ $(sinfo -h -o %t 2>/dev/null) == idle ]] && break || sleep 1; done
show sinfo

# wait_for JOB: until no task of it is waiting or running. Slurm lets a job that goes back into the queue wait for two minutes; here it
# need not.
wait_for() {
  for ((i = 0; i < 1500; ++i)); do
    [[ -z $(squeue -h -j "$1" -t PENDING,RUNNING,COMPLETING,CONFIGURING,SUSPENDED,REQUEUED 2>/dev/null) ]] && return
    [[ $(squeue -h -j "$1" -o %r) == BeginTime ]] && scontrol update JobId="$1" StartTime=now
    sleep 1
  done
  echo "job $1 does not end" >&2
  squeue
  return 1
}
expect() {
  if ! eval "$2"; then
    echo "FAIL: $1" >&2
    exit 1
  fi
  echo "ok: $1"
}
result() { python3 -c "import json, sys; print(json.load(open(sys.argv[1]))[sys.argv[2]])" "$1" "$2"; }

step "an optimisation that is longer than its time limit"
cp -r "$root/jobs/study" study
cp -r study long
sed -i 's/"divisions": .8, 5./"divisions": [36, 22]/' long/throw.json # long enough for a limit in minutes
limits=(--nodes=1 --ntasks-per-node=1 --ntasks=1 --time=1 --signal=B:USR1@40)
printf '$ sbatch %s jobs/slurm_template.sh optimize long/study.json fit\n' "${limits[*]}"
job=$(sbatch --parsable "${limits[@]}" --output=fit.log "$root/jobs/slurm_template.sh" optimize long/study.json fit)
wait_for "$job"
show grep -E "checkpointed|optimisation ends" fit.log
printf '$ scontrol show job %s\n' "$job"
scontrol show job "$job" | grep -oE "JobState=\S+|Restarts=\S+|ExitCode=\S+|TimeLimit=\S+" | paste -sd' '
expect "it went back into the queue at least once" '(($(scontrol show job "$job" | grep -oP "Restarts=\K\d+") >= 1))'
expect "and ended" '[[ $(result fit/fit.json status) == done ]]'
step "the same without Slurm"
"$recoil" optimize long/study.json -o alone -q
expect "the values are those of one left alone" 'python3 - <<END
import json
a, b = (json.load(open(f + "/fit.json")) for f in ("fit", "alone"))
print({name: (p["value"], b["parameters"][name]["value"]) for name, p in a["parameters"].items()})
assert abs(a["objective"] / b["objective"] - 1) < 1e-9
END'

step "a job array of four starts"
printf '$ jobs/slurm_array.sh study/study.json starts 4 --nodes=1 --ntasks-per-node=1 --time=10\n'
jobs=$("$root/jobs/slurm_array.sh" study/study.json starts 4 --parsable --nodes=1 --ntasks-per-node=1 --time=10)
sleep 2
show squeue
wait_for "$jobs"
show "$root/scripts/starts.py" list starts
expect "four starts have ended" '(($(ls starts/fit-*/fit.json | wc -l) == 4))'
step "done"
