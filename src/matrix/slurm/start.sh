#
#     bash slurm/testgen.sh nightly            # or presubmit, postsubmit
#     bash slurm/testgen.sh nightly --wait     # ends with the result: 0 passed, 1 failed
#
# Submits the jobs of a tier to Slurm. The project must be in a directory that all nodes share. Reports and the output of jobs are in
# target/slurm/<name>, the merged report in its directory `page`. Submit again only after the last job has ended, because it uses target/ci, too.
set -euo pipefail
cd "$(dirname "${BASH_SOURCE[0]}")/.."

tier=${1:-}
case "$tier:${2:-}" in
  presubmit: | postsubmit: | nightly: | presubmit:--wait | postsubmit:--wait | nightly:--wait) ;;
  *)
    echo "usage: bash slurm/testgen.sh presubmit|postsubmit|nightly [--wait]" >&2
    exit 2
    ;;
esac

mkdir -p target/slurm
RUN=$(mktemp -d target/slurm/XXXXXXXX)
export RUN
mkdir "$RUN/jobs" "$RUN/logs" "$RUN/reports"

# When a job cannot be submitted, those before it are cancelled: the result would not be complete.
jobs=()
trap 'test "${#jobs[@]}" -eq 0 || scancel "${jobs[@]}"' EXIT

# Submits the script of standard input.
submit() {
  local job
  job=$(sbatch --parsable --export=ALL --nodes=1 --open-mode=append "$@")
  # In a federation the name of the cluster follows.
  jobs+=("${job%%;*}")
}
