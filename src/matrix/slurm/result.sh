# A slice without a result was cancelled, exceeded its time, or was on a node that failed and was not started again.
while read -r results; do
  if ! test -f "$RUN/reports/$results/status"; then
    echo "$results: no result"
    found=1
  else
    found=$(cat "$RUN/reports/$results/status")
    test "$found" = 0 || echo "$results: exit code $found"
  fi
  case "$found:$results" in
    0:* | *:advisory/*) ;;
    *) status=1 ;;
  esac
done < "$RUN"/expected
echo "$status" > "$RUN"/status
exit "$status"
