export ATTEMPT="$RUN/attempts/$results.${SLURM_RESTART_COUNT:-0}"
rm -rf "$ATTEMPT"
mkdir -p "$ATTEMPT" "$(dirname "$RUN/reports/$results")"
status=0
LAUNCH || status=$?
echo "$status" > "$ATTEMPT"/status
# The first attempt that ends counts. Another one can be running on a node that Slurm reported as down.
mv --no-target-directory "$ATTEMPT" "$RUN/reports/$results" || test -f "$RUN/reports/$results/status"
exit "$status"
