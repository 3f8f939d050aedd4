trap - EXIT
echo "jobs: ${jobs[*]}"
echo "report: $RUN/page"
test "${2:-}" = --wait || exit 0

while test -n "$(squeue --noheader --jobs="${jobs[-1]}" 2>/dev/null)"; do
  sleep 5
done
test -f "$RUN/status" || {
  echo "the job that merges the reports has not ended; its output is in $RUN/logs" >&2
  exit 1
}
cat "$RUN/logs/testgen-report.txt"
exit "$(cat "$RUN/status")"
