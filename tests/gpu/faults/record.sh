#!/bin/bash
# Records each pair with its counters on a GPU machine: bash record.sh FOLDER, beside `fathom`, its recorder
# and the program `faults` (nvcc -O3 -std=c++20 -arch=native *.cu -o faults).
out=$1
here=$(cd "$(dirname "$0")" && pwd)
cd "$here" || exit 1
nvidia-smi --query-gpu=name,clocks.sm,clocks.max.sm,temperature.gpu --format=csv
begin=$SECONDS
for pair in $(./faults list); do
  timeout 25 ./fathom record --counters=full --replay --allocations --quiet --force --out "$out/$pair.capture" -- \
    ./faults "$pair" 2> "$out/$pair.notes" || echo "$pair: exit $?"
  [ -s "$out/$pair.notes" ] && sed "s/^/  $pair: /" "$out/$pair.notes" | head -5
  [ $((SECONDS - begin)) -gt 130 ] && echo "stopped after $pair" && break
done
echo "recorded in $((SECONDS - begin)) s"
echo "--- without a recorder"
timeout 20 ./faults
echo "--- Nsight Compute"
FAULTS_ONCE=1 timeout 40 ncu --clock-control none --cache-control none --csv --page raw -k 'regex:^(fault|twin)_' \
  --log-file "$out/ncu.csv" --metrics "$(tr '\n' ',' < ncu_metrics.txt | sed 's/,$//')" \
  ./faults $(./faults list | grep -v tiny_steps) > "$out/ncu.log" 2>&1
tail -3 "$out/ncu.log"; ls -la "$out"
