#!/bin/bash
# bash run.sh OUTDIR: times of all cases, then one capture per case and variant. Ends within 175 s.
OUT=${1:?usage: run.sh OUTDIR}
mkdir -p "$OUT"; OUT=$(cd "$OUT" && pwd)
cd "$(dirname "$0")" || exit 1
chmod +x blind fathom
SECONDS=0
LIMIT=${LIMIT:-158}
nvidia-smi --query-gpu=name,driver_version,clocks.sm,clocks.max.sm,power.draw,temperature.gpu --format=csv,noheader
timeout 40 ./blind all | tee "$OUT/times.txt"
# A case that ended the program is timed again alone, together with those after it.
for name in $(./blind list | cut -d' ' -f1); do
  grep -q "^$name " "$OUT/times.txt" || timeout 10 ./blind "$name" both 2>&1 | tee -a "$OUT/times.txt"
done
echo "# times done after $SECONDS s"
work=$(mktemp -d)
last="median smooth_until mapped_table scan_segments shade_kinds"
order=$( (./blind list | grep -vwE "$(echo $last | tr ' ' '|')"; for n in $last; do ./blind list | grep "^$n "; done) )
while read -r name kind; do
  for variant in faulty fixed; do
    [ "$kind" = clean ] && [ $variant = faulty ] && continue
    if [ $SECONDS -ge $LIMIT ]; then echo "skipped $name $variant"; continue; fi
    begin=$(date +%s.%N)
    timeout -k 2 20 ./fathom record --counters=full --replay --out "$work/$name-$variant.capture" -- \
      ./blind "$name" $variant 5 > "$work/$name-$variant.log" 2>&1 < /dev/null
    rc=$?
    echo "capture $name $variant rc=$rc $(echo "$(date +%s.%N) $begin" | awk '{printf "%.1f", $1-$2}') s" \
      "$(stat -c %s "$work/$name-$variant.capture" 2>/dev/null) bytes"
    [ $rc = 0 ] || tail -3 "$work/$name-$variant.log"
  done
done <<< "$order"
tar -C "$work" -czf "$OUT/captures.tar.gz" .
echo "# done after $SECONDS s"; ls -la "$OUT"
