#!/usr/bin/env bash
# One piece of a run for each task of a Slurm array.
#
#   job=$(sbatch --parsable --array=1-10 slurm.sh 10 affine.ts x.npy y.npy --set a=2)
#   sbatch --dependency="afterok:$job" --wrap 'warpstage merge y.npy --remove'
#
# The first argument is the number of pieces, the others are those of `warpstage run`. It is given, since an array that
# repeats single pieces (`sbatch --array=3,7 slurm.sh 10 ...`) has fewer tasks.
#
# A task that may do better next time goes back into the queue, five times at most; another fails, and so `merge` does
# not begin. Slurm itself requeues tasks whose node is lost.
#SBATCH --job-name=warpstage
#SBATCH --requeue
#SBATCH --open-mode=append
#SBATCH --output=%x-%A_%a.log

pieces=$1
shift

code=0
warpstage run "$@" --quiet --shard "$SLURM_ARRAY_TASK_ID/$pieces" || code=$?

case $code in
  # Something that may pass, Ctrl-C, killed (out of memory, say), SIGTERM.
  75 | 130 | 137 | 143)
    if [ "${SLURM_RESTART_COUNT:-0}" -lt 5 ]; then scontrol requeue "$SLURM_JOB_ID"; fi ;;
esac
exit "$code"
