#!/usr/bin/env bash
# Pieces of a run on the machines that GNU parallel is given, and on this one if it is given none:
#
#   ./parallel.sh 10 affine.ts x.npy y.npy --set a=2
#   PARALLEL='--sshloginfile nodes --workdir . --env piece' ./parallel.sh 10 affine.ts x.npy y.npy
#   warpstage merge y.npy --remove
#
# The first argument is the number of pieces, the others are those of `warpstage run`. A piece that may do better next
# time is tried five times more. The first piece that fails for good ends the whole: no other is begun.

pieces=$1
shift

piece() {
  local code
  for _ in 0 1 2 3 4 5; do
    code=0
    warpstage run "${@:2}" --quiet --shard "$1" || code=$?
    case $code in
      # Something that may pass, Ctrl-C, killed (out of memory, say), SIGTERM.
      75 | 130 | 137 | 143) sleep "${WAIT:-10}" ;;
      *) return "$code" ;;
    esac
  done
  return "$code"
}
export -f piece

export SHELL=/bin/bash
seq "$pieces" | parallel --will-cite --jobs "${JOBS:-2}" --halt soon,fail=1 --quote piece "{}/$pieces" "$@"
